import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { attemptContract } from '../../../src/generation/agents/attempt-contract.ts';
import { toRepairFinding } from '../../../src/generation/agents/repair-finding.ts';
import { checkContract } from '../../../src/local/agents/check-contract.ts';
import { readSabotageFile } from '../../../src/local/sabotage-campaign.ts';
import type { AgentFile } from '../../../src/model/agent-work.ts';
import { isLacking } from '../../fixtures/needed-tool.ts';
import { type AgentSubject, openSubject } from '../../local/agents/agent-subject.ts';
import { faultyFirst } from '../../support/model-server/seeded-fault.ts';
import { type AgentWorld, openAgentWorld, taskOf } from './agent-world.ts';
import { closeScripted, openScripted, portsOf } from './attempt-world.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-converge-'));
let subject: AgentSubject;
let world: AgentWorld;
beforeAll(async () => {
  subject = await openSubject(root);
  world = await openAgentWorld(['tiny-qwen3.yaml']);
});
afterAll(async () => {
  await closeScripted();
  rmSync(root, { recursive: true, force: true });
});

it.skipIf(isLacking('bubblewrap'))(
  'a model that makes a mistake and mends it only when told where it is, is right at the second attempt',
  async () => {
    const { mutations } = await readSabotageFile();
    const fault = faultyFirst(mutations.find(({ id }) => id === 'norm-eps-outside-root')!);
    const one = await openScripted(world, { contracts: { 'norm.rms': fault.reply } });
    const owner = subject.catalog.contracts.find(({ frontMatter }) => frontMatter.id === 'norm.rms')!;
    const check = async (file: AgentFile) => {
      const { prepared, toolchain, cacheFolder, files } = subject;
      const agentFiles = new Map([...files, ['norm.rms', file]]);
      const { signal } = new AbortController();
      const found = await checkContract({
        prepared,
        agentFiles,
        contract: 'norm.rms',
        toolchain,
        cacheFolder,
        signal,
        runSeed: 3,
      });
      return found.map((finding) => toRepairFinding(finding, owner));
    };
    const first = await attemptContract(taskOf(world, 'norm.rms'), portsOf(one, { check }));
    expect(first).toMatchObject({ outcome: 'rejected', attempt: { rejectedBy: ['unit'] } });
    const told = { findings: first.findings, previous: first.file!.text };
    const second = await attemptContract(
      taskOf(world, 'norm.rms', told),
      portsOf(one, { check, attempt: 2 }),
    );
    expect(second).toMatchObject({ outcome: 'accepted', attempt: { number: 2, told: ['unit'] } });
    expect(fault.prompts.map(({ answer }) => answer)).toEqual(['faulty', 'right']);
    expect(fault.prompts[1]!.shown.flatMap(({ lacks }) => lacks)).toEqual([]);
  },
);
