import { existsSync, mkdirSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { CommandLine } from '../fixtures/command-line.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';
import { isLacking } from '../fixtures/needed-tool.ts';

const cli = new CommandLine({ hasEmptyCache: true });
afterAll(() => cli.close());
const examples = join(packageRoot(), 'knowledge/examples');
const engine = join(cli.folder, 'engine');
beforeAll(async () => {
  const model = { path: join(packageRoot(), 'test/fixtures/checkpoints/tiny-qwen3') };
  const file = writeConstraintFile(join(cli.folder, 'engine.yaml'), { name: 'engine', model });
  const { code, stderr } = await cli.run(['generate', file, '-o', engine, '--quiet']);
  expect([code, stderr]).toEqual([0, '']);
});

function refusalOf(folder: string, reason: string) {
  return {
    error: {
      code: 'TOOL_MISSING',
      message: `The folder ${folder} cannot be used: ${reason}.\nSet METAINFER_CACHE to a folder that this user can make and write.`,
    },
  };
}

describe.each([
  ['verify', ['verify', engine, '--json']],
  ['run', ['run', engine, '--ids', '1', '--json']],
] as const)('metainfer %s', (_, args) => {
  it('ends with 3, and names the folder and METAINFER_CACHE, where the cache cannot be made', async () => {
    const environment = { METAINFER_CACHE: '', XDG_CACHE_HOME: join(cli.folder, 'engine.yaml') };
    const { code, stdout, stderr } = await cli.run(args, { environment });
    const folder =
      args[0] === 'verify'
        ? join(cli.folder, 'engine.yaml/metainfer/copies')
        : join(cli.folder, 'engine.yaml/metainfer');
    expect([code, JSON.parse(stdout)]).toEqual([3, refusalOf(folder, 'it is a file, or lies below one')]);
    expect(stderr).not.toContain('fault of the program');
  });

  it.skipIf(isLacking('bubblewrap'))('ends with 3 where the cache is on a read-only disk', async () => {
    const cache = join(cli.folder, 'read-only');
    mkdirSync(cache, { recursive: true });
    const wrapper = ['/usr/bin/bwrap', '--dev-bind', '/', '/', '--ro-bind', cache, cache];
    const { code, stdout } = await cli.run(args, { wrapper, environment: { METAINFER_CACHE: cache } });
    const folder = args[0] === 'verify' ? join(cache, 'copies') : cache;
    expect([code, JSON.parse(stdout)]).toEqual([3, refusalOf(folder, 'the disk is read-only')]);
  });
});

describe('metainfer run', () => {
  it('removes what a killed run left, and leaves nothing where it is refused', async () => {
    const temporary = join(cli.folder, 'temporary');
    const left = join(temporary, 'metainfer-run-aB3dE6');
    mkdirSync(left, { recursive: true });
    utimesSync(left, 1, 1);
    const environment = { METAINFER_CACHE: join(cli.folder, 'engine.yaml'), TMPDIR: temporary };
    const { code } = await cli.run(['run', engine, '--ids', '1'], { environment });
    expect(code).toBe(3);
    expect(readdirSync(temporary).filter((name) => name.startsWith('metainfer'))).toEqual([]);
  });

  it.skipIf(isLacking('bubblewrap') || isLacking('nvcc'))(
    'refuses an engine for a GPU at once where there is none (needs nvcc, and bubblewrap to hide a GPU)',
    async () => {
      const folder = join(cli.folder, 'for-cuda');
      const file = join(examples, 'tiny-qwen3-cuda.yaml');
      expect((await cli.run(['generate', file, '-o', folder])).code).toBe(0);
      const wrapper = ['/usr/bin/bwrap', '--dev-bind', '/', '/', '--dev', '/dev'];
      const { code, stdout } = await cli.run(['run', folder, '--prompt', 'Hello', '--json'], { wrapper });
      expect([code, JSON.parse(stdout)]).toMatchObject([
        3,
        {
          error: {
            code: 'TOOL_MISSING',
            message: expect.stringMatching(/NVIDIA GPU.*this machine has none/),
          },
        },
      ]);
      expect(readdirSync(join(cli.cache, 'objects'))).toEqual([]);
      expect(existsSync(join(cli.cache, 'weights'))).toBe(false);
    },
  );
});
