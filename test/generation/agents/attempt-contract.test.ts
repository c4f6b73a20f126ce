import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { attemptContract } from '../../../src/generation/agents/attempt-contract.ts';
import type { AgentFile, RepairFinding } from '../../../src/model/agent-work.ts';
import { rightText } from '../../support/model-server/knowledge-replies.ts';
import { type AgentWorld, agentContracts, engineOf, openAgentWorld, taskOf } from './agent-world.ts';
import { closeScripted, openScripted, portsOf, unitFinding } from './attempt-world.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await openAgentWorld(['tiny-qwen3.yaml']);
});
afterEach(closeScripted);

describe('one attempt at one contract', () => {
  it('accepts every contract of an engine from a model that is right, with one question and one review each', async () => {
    const one = await openScripted(world);
    const checked: AgentFile[] = [];
    const check = async (file: AgentFile) => {
      checked.push(file);
      return [];
    };
    const contracts = agentContracts(engineOf(world));
    for (const selected of contracts) {
      const { id } = selected.contract.frontMatter;
      const outcome = await attemptContract(taskOf(world, id), portsOf(one, { check }));
      expect(outcome).toMatchObject({
        outcome: 'accepted',
        findings: [],
        objections: [],
        stop: null,
        notes: [],
      });
      expect(outcome.file?.text).toBe(rightText(selected, engineOf(world).selection));
      expect(outcome.attempt).toMatchObject({ contract: id, outcome: 'accepted', calls: 2, rejectedBy: [] });
    }
    expect(checked).toHaveLength(contracts.length);
    expect(one.server.log).toHaveLength(2 * contracts.length);
    expect(one.server.log.map(({ contract }) => contract)).toEqual(
      contracts.flatMap(({ contract }) => [contract.frontMatter.id, contract.frontMatter.id]),
    );
  });

  it('rejects by the gates and asks no reviewer then; the next prompt holds findings and text', async () => {
    const one = await openScripted(world);
    const first = await attemptContract(
      taskOf(world, 'norm.rms'),
      portsOf(one, { check: async () => [unitFinding] }),
    );
    expect(first).toMatchObject({
      outcome: 'rejected',
      findings: [unitFinding],
      attempt: { rejectedBy: ['unit'], calls: 1 },
    });
    expect(one.server.log.map(({ role }) => role)).toEqual(['implementer']);
    const told = { findings: first.findings, previous: `// ${'earlier'}\n` };
    const second = await attemptContract(taskOf(world, 'norm.rms', told), portsOf(one, { attempt: 2 }));
    expect(second).toMatchObject({ outcome: 'accepted', attempt: { number: 2, told: ['unit'] } });
    const prompt = one.server.log[1]!.prompt;
    expect(prompt).toContain('"clause":"eps stands inside the root"');
    expect(prompt).toContain('// earlier');
    expect(prompt).toContain('Every finding above must be gone.');
  });

  it('stops at the static rules without a gate where a file breaks them', async () => {
    const text = '// SPDX-License-Identifier: MIT\n// norm.rms: x\n#include "norm_rms.h"\n#include <regex>\n';
    const one = await openScripted(world, { contracts: { 'norm.rms': { text } } });
    const check = async (): Promise<RepairFinding[]> => {
      throw new Error('must not be compiled');
    };
    const outcome = await attemptContract(taskOf(world, 'norm.rms'), portsOf(one, { check }));
    expect(outcome.outcome).toBe('rejected');
    expect(outcome.findings).toEqual([
      expect.objectContaining({ source: 'static', line: 4, got: '#include <regex>' }),
      expect.objectContaining({
        source: 'static',
        message: 'rms_norm is declared in the header and defined nowhere',
      }),
    ]);
  });

  it.each(['prose', 'declines', 'empty-file'] as const)(
    'turns an answer that is none (%s) into a finding',
    async (kind) => {
      const one = await openScripted(world, { contracts: { 'norm.rms': kind } });
      const outcome = await attemptContract(
        taskOf(world, 'norm.rms', { findings: [unitFinding] }),
        portsOf(one),
      );
      expect(outcome).toMatchObject({
        outcome: 'refused',
        file: null,
        stop: null,
        attempt: { outcome: 'refused', lines: 0 },
      });
      expect(outcome.findings.map(({ source }) => source)).toEqual(['answer', 'unit']);
      expect(outcome.findings[0]!.message.length).toBeGreaterThan(10);
    },
  );

  it('stops the run where the budget leaves no room, and asks nothing', async () => {
    const limits = { softTokens: 100, hardTokens: 100, softUsd: null, hardUsd: null };
    const one = await openScripted(world, {}, {}, {}, limits);
    const outcome = await attemptContract(
      taskOf(world, 'norm.rms', { findings: [unitFinding] }),
      portsOf(one),
    );
    expect(outcome).toMatchObject({
      outcome: 'refused',
      findings: [unitFinding],
      stop: { reason: 'budget' },
      attempt: { calls: 0 },
    });
    expect(one.server.log).toHaveLength(0);
  });

  it('stops the run where the contract does not fit the context, and says what to do', async () => {
    const one = await openScripted(world, {}, {}, { context_tokens: 2048 });
    const outcome = await attemptContract(taskOf(world, 'norm.rms'), portsOf(one));
    expect(outcome).toMatchObject({ outcome: 'refused', stop: { reason: 'context-overflow' } });
    expect(outcome.stop?.message).toMatch(/context/);
  });

  it('says which sections a small context left out, and keeps contract, header and rules', async () => {
    const one = await openScripted(world, {}, {}, { context_tokens: 16_000, max_output_tokens: 2048 });
    const outcome = await attemptContract(taskOf(world, 'attention.block'), portsOf(one, { review: false }));
    expect(outcome.outcome).toBe('accepted');
    expect(outcome.notes).toHaveLength(1);
    expect(outcome.notes[0]).toContain('left out: ');
    expect(one.server.log[0]!.prompt).toContain('=== The contract ===');
    expect(one.server.log[0]!.prompt).toContain('=== Header to implement: attention_block.h ===');
  });

  it('answers the same question from the record: a repeated attempt costs nothing and comes out the same', async () => {
    const one = await openScripted(world);
    const [first, second] = [
      await attemptContract(taskOf(world, 'text.utf8'), portsOf(one)),
      await attemptContract(taskOf(world, 'text.utf8'), portsOf(one)),
    ];
    expect(second.file).toEqual(first.file);
    expect(one.server.log).toHaveLength(2);
    const third = await attemptContract(taskOf(world, 'text.utf8'), portsOf(one, { attempt: 2 }));
    expect(third.outcome).toBe('accepted');
    expect(one.server.log).toHaveLength(4);
  });

  it('accepts a file from an endpoint without structured output, with prose around the fence', async () => {
    const endpoint = { structuredOutput: false, streaming: false };
    const one = await openScripted(world, {}, { endpoint, script: ['prose-around'] });
    const outcome = await attemptContract(taskOf(world, 'kv.cache'), portsOf(one));
    expect(outcome).toMatchObject({ outcome: 'accepted', notes: [] });
  });
});
