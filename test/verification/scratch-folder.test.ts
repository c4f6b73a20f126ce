import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openCacheFolder } from '../../src/verification/cache-folder.ts';
import { makeScratch, sweepCache, sweepScratch } from '../../src/verification/scratch-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-scratch-'));
const below = join(root, 'cache', 'objects');
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => rmSync(below, { recursive: true, force: true }));

const module = fileURLToPath(new URL('../../src/verification/scratch-folder.ts', import.meta.url));

/** Another process that makes a folder and stays. */
async function startOther() {
  const code = `import { makeScratch } from ${JSON.stringify(module)};
    console.log(makeScratch(${JSON.stringify(below)}, 'verify'));
    setInterval(() => undefined, 1000);`;
  const words = ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', code];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, folder: line.toString().trim() };
}

function makeOld(name: string, days: number, isFile = false): string {
  const path = join(below, name);
  mkdirSync(below, { recursive: true });
  if (isFile) writeFileSync(path, '');
  else mkdirSync(path);
  const then = Date.now() / 1000 - days * 86_400;
  utimesSync(path, then, then);
  return path;
}

describe('the folder of a process', () => {
  it('stays while the process lives, however old it is, and goes when it was killed', async () => {
    const { child, folder } = await startOther();
    try {
      const own = makeScratch(below, 'scratch');
      for (const path of [folder, own]) utimesSync(path, 1, 1);
      sweepScratch(below, ['scratch', 'verify']);
      expect([existsSync(folder), existsSync(own)]).toEqual([true, true]);
      writeFileSync(join(folder, 'weights'), 'many');
    } finally {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    sweepScratch(below, ['scratch']);
    expect(existsSync(folder)).toBe(true);
    sweepScratch(below, ['scratch', 'verify']);
    expect(readdirSync(below)).toEqual([expect.stringMatching(/^scratch-/)]);
  });

  it('goes where another process has its number by now', () => {
    const own = makeScratch(below, 'verify');
    const [start] = /-(\d+)-[^-]+$/.exec(own)!.slice(1);
    const earlier = own.replace(`-${start}-`, '-1-');
    mkdirSync(earlier);
    sweepScratch(below, ['verify']);
    expect(readdirSync(below)).toEqual([basename(own)]);
  });

  it('of another machine stays for a week', () => {
    const own = basename(makeScratch(below, 'verify'));
    const other = own.replace(/-[0-9a-f]{12}-/, '-0123456789ab-');
    const kept = makeOld(other, 6);
    const old = makeOld(other.replace(/-[^-]+$/, '-older1'), 8);
    sweepScratch(below, ['verify']);
    expect([existsSync(kept), existsSync(old)]).toEqual([true, false]);
  });
});

describe('what a killed command left in the cache', () => {
  it('without a name of its process goes after a day in which nothing in it changed', () => {
    const old = makeOld('mutant-aB3dE6', 2);
    const young = makeOld('mutant-young1', 0.5);
    const busy = makeOld('profile-busy12', 2);
    writeFileSync(join(busy, 'now'), '');
    const then = Date.now() / 1000 - 2 * 86_400;
    utimesSync(busy, then, then);
    sweepCache(join(root, 'cache'));
    expect([old, young, busy].map((path) => existsSync(path))).toEqual([false, true, true]);
  });

  it('goes from every place, and nothing else does', () => {
    const cache = join(root, 'cache');
    const places = ['copies/engine-1', 'contracts/engine-1', 'optimize-1', 'bisect-1'];
    for (const place of places) mkdirSync(join(cache, place), { recursive: true });
    for (const place of places) utimesSync(join(cache, place), 1, 1);
    const part = makeOld('ab12.o.77.123456.part', 2, true);
    const youngPart = makeOld('cd34.bin.77.123456.part', 0.5, true);
    const kept = [makeOld('ab12.o', 90, true), makeOld('verify-file', 90, true), makeOld('verifyother', 90)];
    sweepCache(cache);
    expect([...places.map((place) => join(cache, place)), part].filter((path) => existsSync(path))).toEqual(
      [],
    );
    expect([...kept, youngPart].filter((path) => !existsSync(path))).toEqual([]);
  });

  it('is not followed through a link, and a folder that is not there is no fault', () => {
    const outside = join(root, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'dear'), 'text');
    utimesSync(outside, 1, 1);
    mkdirSync(below, { recursive: true });
    symlinkSync(outside, join(below, 'verify-linked'));
    sweepScratch(below, ['verify']);
    sweepScratch(join(root, 'nowhere'), ['verify']);
    expect(readFileSync(join(outside, 'dear'), 'utf8')).toBe('text');
    expect(readdirSync(below)).toEqual(['verify-linked']);
  });
});

describe('a folder that cannot be used', () => {
  writeFileSync(join(root, 'file'), '');
  symlinkSync(join(root, 'gone'), join(root, 'dangling'));
  it.each([
    [join(root, 'file'), 'it is a file, or lies below one'],
    [join(root, 'file', 'below', 'it'), 'it is a file, or lies below one'],
    [join(root, 'dangling'), 'no folder can be made there'],
    ['/proc/metainfer/objects', 'no folder can be made there'],
    [join(root, 'long'.repeat(100)), 'its name is too long'],
  ])('is named with the reason and the setting: %s', (folder, reason) => {
    const refusal = {
      ...{ code: 'TOOL_MISSING', exitCode: 3 },
      message: `The folder ${folder} cannot be used: ${reason}.\nSet METAINFER_CACHE to a folder that this user can make and write.`,
    };
    expect(() => openCacheFolder(folder)).toThrow(expect.objectContaining(refusal));
    expect(() => makeScratch(folder, 'verify')).toThrow(expect.objectContaining(refusal));
  });

  it('is made where it is only missing, with all above it', () => {
    openCacheFolder(join(root, 'deep', 'er', 'still'));
    expect(existsSync(join(root, 'deep', 'er', 'still'))).toBe(true);
  });
});
