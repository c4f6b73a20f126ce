import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { distil } from '../../../src/evolution/distil.ts';
import { type KnowledgeFolder, readKnowledgeFolder } from '../../../src/local/evolution/knowledge-folder.ts';
import { readRun } from '../../../src/local/evolution/read-run.ts';
import type { AgentPapers, AgentWork } from '../../../src/model/agent-work.ts';
import type { RunState } from '../../../src/model/run.ts';
import { nothingSpent } from '../../../src/model/spending.ts';
import { startRun } from '../../../src/pipeline.ts';
import { knowledgeRoot } from '../../../src/preparation/knowledge-base.ts';
import { account, agentText, rightText } from '../../evolution/sample-learnt.ts';
import { refusalOf } from '../../support/refusal-of.ts';
import { tinyRequest } from '../agents/agent-build.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-read-run-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let knowledge: KnowledgeFolder;
beforeAll(async () => {
  knowledge = await readKnowledgeFolder(knowledgeRoot());
});

const read = (source: string) =>
  readRun(source, {
    ...{ knowledge, cacheFolder: join(root, 'cache'), weightsRoot: undefined, weightsFolder: undefined },
  });

const file = agentText(rightText, 2);
const work: AgentWork = {
  contracts: [
    {
      ...{ contract: 'mlp.gated', phase: 'layers', status: 'failed', attempts: 2, totalAttempts: 2 },
      ...{ findings: [], objections: [], fileSha256: file.sha256 },
    },
  ],
  ...{ publishedPhases: [], round: 1, spent: nothingSpent, optimizations: 0, stop: null },
  limits: {
    ...{ attemptsPerContract: 2, rounds: 1, optimizations: 0 },
    spending: { softTokens: 1000, hardTokens: 2000, softUsd: null, hardUsd: null },
  },
};

function saveState(name: string, change: Partial<RunState>, papers?: AgentPapers): string {
  const path = join(root, `${name}.json`);
  const text = JSON.stringify(tinyRequest);
  const input = { fileName: join(root, 'tiny.yaml'), text, origin: 'command-line' } as const;
  writeFileSync(path, JSON.stringify({ ...startRun(`run-${name}`, input, join(root, 'engine')), ...change }));
  if (papers !== undefined) {
    mkdirSync(join(root, `${name}.agents`));
    writeFileSync(join(root, `${name}.agents/agents.json`), JSON.stringify(papers));
  }
  return path;
}

describe('a run that lessons are to be drawn from', () => {
  it('may have failed: what its attempts stumbled over is learnt all the same', async () => {
    const unstated = [{ clause: 'edges:2', reason: 'what a row of zeros gives' }];
    const papers: AgentPapers = {
      ...{ versions: [file], attempts: [], optimizations: [] },
      accounts: [account(1, { unstated }), account(2, { unstated, fileSha256: file.sha256 })],
    };
    const learnt = await read(saveState('failed', { status: 'failed', next: null, agents: work }, papers));
    expect([learnt.run, learnt.report]).toEqual([{ id: 'run-failed', engine: 'engines/tiny' }, null]);
    const { lessons, notes } = distil(learnt);
    expect(lessons.map(({ kind, contract }) => [kind, contract])).toEqual([['clarification', 'mlp.gated']]);
    expect(notes.join()).toContain('was not verified');
  });

  it('teaches nothing where it failed before anybody wrote anything', async () => {
    const { reasonIfNone } = distil(await read(saveState('early', { status: 'failed', next: null })));
    expect(reasonIfNone).toBe('Nothing to learn: no agent wrote anything, and the engine was not verified.');
  });

  const refused = async (...args: string[]) =>
    (await refusalOf(['knowledge', 'learn', ...args], join(root, 'cache'))).message;

  it('has to be over', async () => {
    expect(await refused(saveState('running', {}))).toMatch(/not over.*build --resume/);
  });

  it('has to be there, and to be a run or an engine', async () => {
    expect(await refused(join(root, 'nothing.json'))).toContain('does not exist');
    const empty = join(root, 'empty');
    mkdirSync(empty);
    expect(await refused(empty)).toContain('is not an engine folder');
    expect(await refused(empty, '--into', empty)).toContain('holds no contracts/');
  });
});
