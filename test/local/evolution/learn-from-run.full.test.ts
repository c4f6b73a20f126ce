import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { dropFromList } from '../../../src/evolution/yaml-list.ts';
import { applyEdits } from '../../../src/local/sabotage.ts';
import { readSabotageFile } from '../../../src/local/sabotage-campaign.ts';
import { SabotageFile } from '../../../src/model/sabotage.ts';
import { knowledgeRoot, openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { CommandLine } from '../../fixtures/command-line.ts';
import { makeTestCache } from '../../fixtures/test-cache.ts';
import { repliesFromKnowledge } from '../../support/model-server/knowledge-replies.ts';
import { type AgentBuild, buildWithAgents, selectionFor, tinyRequest } from '../agents/agent-build.ts';

// Two builds of whole engines with agents, a repair, and a verification: many minutes on two cores.
const root = mkdtempSync(join(tmpdir(), 'metainfer-learn-'));
const cacheFolder = makeTestCache(join(root, 'cache'));
const knowledge = join(root, 'knowledge');
const inKnowledge = (path: string) => readFileSync(join(knowledge, path), 'utf8');
const cli = new CommandLine();
let first: AgentBuild;
let learnt: { lessons: { kind: string; contract: string | null }[]; written: string[] };

/** Knowledge that never had a realization of mlp.gated for processors. */
function removeMlp(): void {
  cpSync(knowledgeRoot(), knowledge, { recursive: true });
  rmSync(join(knowledge, 'contracts/mlp-gated/realizations/cpu-x86_64.cpp'));
  rmSync(join(knowledge, 'contracts/mlp-gated/evidence.yaml'));
  const isAboutIt = (item: unknown) => (item as { contract: string }).contract === 'mlp.gated';
  writeFileSync(
    join(knowledge, 'sabotage.yaml'),
    dropFromList(inKnowledge('sabotage.yaml'), 'mutations', isAboutIt),
  );
}

/** The run as `metainfer build --state` leaves it. */
function saveRun(build: AgentBuild): string {
  const path = join(root, 'run.json');
  writeFileSync(path, JSON.stringify(build.state));
  mkdirSync(join(root, 'run.agents'));
  cpSync(join(build.folder, 'agents.json'), join(root, 'run.agents/agents.json'));
  return path;
}

beforeAll(async () => {
  removeMlp();
  const whole = await openKnowledge(cacheFolder);
  const selection = await selectionFor(tinyRequest, whole);
  const mistake = (await readSabotageFile()).mutations.find(({ id }) => id === 'sigmoid-instead-of-silu')!;
  first = await buildWithAgents({
    ...{ cacheFolder, catalog: await openKnowledge(cacheFolder, knowledge) },
    server: {
      replies: repliesFromKnowledge(selection, {
        contracts: { 'mlp.gated': [{ mutated: mistake }, 'right'] },
      }),
    },
  });
  if (first.state.status !== 'passed') throw new Error(JSON.stringify(first.state.failure));
  const end = await cli.run([
    ...['knowledge', 'learn', saveRun(first), '--into', knowledge, '--write', '--json', '--quiet'],
  ]);
  if (end.code !== 0) throw new Error(`${end.stdout}\n${end.stderr}`);
  learnt = JSON.parse(end.stdout);
}, 1_800_000);
afterAll(async () => {
  await first?.close();
  cli.close();
  rmSync(root, { recursive: true, force: true });
});

describe('a run in which an agent wrote what knowledge lacked, with a mistake first', () => {
  it('passed after one repair of one contract', () => {
    expect(first.state.status).toBe('passed');
    expect(first.papers.attempts.map(({ contract, outcome }) => [contract, outcome])).toEqual([
      ['mlp.gated', 'rejected'],
      ['mlp.gated', 'accepted'],
    ]);
  });

  it('teaches the realization and the mistake, and knowledge with them has no fault', async () => {
    expect(learnt.lessons.slice(0, 2)).toMatchObject([
      { kind: 'new-realization', contract: 'mlp.gated' },
      { kind: 'failure-mode', contract: 'mlp.gated' },
    ]);
    const check = await cli.run(['knowledge', 'check', knowledge]);
    expect([check.code, check.stdout]).toEqual([0, expect.stringContaining('no contradiction')]);
    for (const path of learnt.written) expect(existsSync(join(knowledge, path))).toBe(true);
  });

  it('leaves a mutation that makes of the new realization the text that the gates rejected', () => {
    const { mutations } = SabotageFile.parse(parse(inKnowledge('sabotage.yaml')));
    const mutation = mutations.at(-1)!;
    const right = inKnowledge(`contracts/mlp-gated/realizations/${mutation.realization}`);
    const codeIn = (text: string) => text.slice(text.indexOf('#include'));
    const [rejected, accepted] = first.papers.versions;
    expect(codeIn(right)).toBe(codeIn(accepted!.text));
    expect(codeIn(applyEdits(right, mutation))).toBe(codeIn(rejected!.text));
  });

  it('is not needed a second time: the same target is composed without a model', async () => {
    const again = await buildWithAgents({
      ...{ cacheFolder, catalog: await openKnowledge(cacheFolder, knowledge), stopAfter: 'generate' },
      server: { replies: () => ({ kind: 'text', text: 'nobody should ask' }) },
    });
    expect([again.state.next, again.state.agents, again.server.count().requests]).toEqual([
      'verify',
      undefined,
      0,
    ]);
    const provenance = readFileSync(join(again.folder, 'engine/provenance.yaml'), 'utf8');
    expect(provenance).toContain('contracts/mlp-gated/realizations/cpu-x86_64-bf16.cpp');
    await again.close();
  });

  it('teaches nothing twice: a second look at the same run changes no file', async () => {
    const again = await cli.run([
      ...['knowledge', 'learn', join(root, 'run.json'), '--into', knowledge, '--write', '--json', '--quiet'],
    ]);
    expect([again.code, JSON.parse(again.stdout).written]).toEqual([0, []]);
  });
});
