import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeEngine } from '../../src/generation/write-engine.ts';
import { withEngineCopy } from '../../src/local/engine-copy.ts';
import { verifyFolder } from '../../src/local/judge-engine.ts';
import { composePrepared } from '../../src/preparation/prepare-engine.ts';
import { hashEngineTree } from '../../src/verification/engine-tree.ts';
import { isLacking } from '../fixtures/needed-tool.ts';
import { type AgentSubject, openSubject, withText } from './agents/agent-subject.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-judge-'));
const copies = join(root, 'cache', 'copies');
const folder = join(root, 'secretname');
let subject: AgentSubject;
beforeAll(async () => {
  subject = await openSubject(root);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Verifies an engine in which one contract does not compile; `meanwhile` is done as soon as a gate begins. */
async function verify(meanwhile: (gate: string) => void) {
  rmSync(folder, { recursive: true, force: true });
  const agentFiles = withText(subject.files, 'norm.rms', (text) => `${text}int x = undeclared;\n`);
  await writeEngine(composePrepared(subject.prepared, { agentFiles }), folder);
  return verifyFolder(subject.prepared, folder, {
    ...{ cacheFolder: subject.cacheFolder, sandbox: 'auto', runSeed: 3 },
    signal: new AbortController().signal,
    ...{ onDetail: meanwhile, onNote: () => undefined },
  });
}

describe.skipIf(isLacking('bubblewrap'))('an engine folder that another process writes into', () => {
  it('while gates run has no verdict, and nothing stays in the cache', async () => {
    const gates: string[] = [];
    const verified = verify((gate) => {
      gates.push(gate);
      if (gate === 'static') rmSync(join(folder, 'format_json.cpp'));
    });
    await expect(verified).rejects.toMatchObject({
      code: 'ENGINE_INVALID',
      message: expect.stringMatching(/secretname was changed while it was verified.*run again/),
    });
    // The gates saw the engine as it was.
    expect(gates).toContain('build');
    expect(readdirSync(copies)).toEqual([]);
  });

  it('and leaves alone is judged, and no finding names a place of this machine', async () => {
    const report = await verify(() => undefined);
    const build = report.gates.find(({ gate }) => gate === 'build')!;
    expect(build.findings).toEqual([
      expect.objectContaining({ contract: 'norm.rms', file: 'norm_rms.cpp', line: expect.any(Number) }),
    ]);
    expect(JSON.stringify(report.gates)).not.toMatch(/secretname|metainfer-judge|copies|\/tmp\//);
    expect(report.engine.treeSha256).toBe(hashEngineTree(folder));
    expect(report.repeat).toContain('secretname');
  });
});

describe('the copy that gates work on', () => {
  const engine = join(root, 'engine');

  it('tells what is no plain file, and is removed', async () => {
    mkdirSync(join(engine, 'sub'), { recursive: true });
    writeFileSync(join(engine, 'a.cpp'), 'int a;\n');
    symlinkSync('/etc/passwd', join(engine, 'linked.h'));
    const seen = await withEngineCopy(engine, copies, async (copy) => {
      expect(readFileSync(join(copy, 'a.cpp'), 'utf8')).toBe('int a;\n');
      expect(lstatSync(join(copy, 'linked.h')).isSymbolicLink()).toBe(true);
      expect(lstatSync(join(copy, 'sub')).isDirectory()).toBe(true);
      return copy;
    });
    expect(existsSync(seen)).toBe(false);
  });

  it.each([
    ['a file is written', () => writeFileSync(join(engine, 'a.cpp'), 'int b;\n')],
    ['the folder goes away', () => rmSync(engine, { recursive: true })],
  ])('is worth nothing where %s meanwhile', async (_, meanwhile) => {
    const work = withEngineCopy(engine, copies, async () => meanwhile());
    await expect(work).rejects.toMatchObject({ code: 'ENGINE_INVALID' });
  });
});
