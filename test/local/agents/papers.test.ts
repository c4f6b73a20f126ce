import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readPapers as readPapersOfApp } from '../../../src/jobs/agent-runs.ts';
import { readPapers, savePapers } from '../../../src/local/agents/local-agents.ts';
import { type AgentFile, type AgentPapers, noPapers } from '../../../src/model/agent-work.ts';
import { agentFile } from '../../fixtures/agent-files.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-papers-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const file = agentFile('norm.rms', 'norm_rms.cpp', 'int right;\n');
const papersOf = (version: AgentFile): AgentPapers => ({ ...noPapers, versions: [version] });

type StoreOfApp = Parameters<typeof readPapersOfApp>[0]['store'];

/** The app's papers lie in its store. */
const fromApp = (papers: AgentPapers) => {
  const store: Pick<StoreOfApp, 'readDocument'> = { readDocument: async () => papers as never };
  return readPapersOfApp({ store: store as StoreOfApp }, { id: 'run-1' });
};

async function fromFile(papers: AgentPapers): Promise<AgentPapers> {
  const path = join(root, 'agents.json');
  writeFileSync(path, JSON.stringify(papers));
  return readPapers(path);
}

describe.each([
  ['on this machine', fromFile],
  ['of the app', fromApp],
])('what agents wrote in a run %s', (_, read) => {
  it('is read as it was saved', async () => {
    await savePapers(join(root, 'agents.json'), papersOf(file));
    expect(await readPapers(join(root, 'agents.json'))).toEqual(papersOf(file));
    expect(await read(papersOf(file))).toEqual(papersOf(file));
  });

  it.each([
    ['lies outside of the engine', { path: '../../evil.cpp' }],
    ['lies in a folder', { path: 'sub/norm_rms.cpp' }],
    ['is another kind of file', { path: 'CMakeLists.txt' }],
    ['has another text than it was saved with', { text: 'int wrong;\n' }],
    ['has another hash', { sha256: '0'.repeat(64) }],
  ])('is refused where a file %s', async (__, change) => {
    await expect(read(papersOf({ ...file, ...change }))).rejects.toMatchObject({
      code: 'RUN_STATE_INVALID',
      exitCode: 2,
    });
  });
});
