import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type AttemptOutcome,
  type AttemptPorts,
  attemptContract,
} from '../../../src/generation/agents/attempt-contract.ts';
import type { AgentFile, RepairFinding } from '../../../src/model/agent-work.ts';
import { repliesFromKnowledge, rightText } from '../../support/model-server/knowledge-replies.ts';
import type { Replies } from '../../support/model-server/reply.ts';
import { review, reviewAll } from '../../support/model-server/review-replies.ts';
import type { ModelServerOptions } from '../../support/model-server/server-options.ts';
import { type AgentWorld, agentContracts, engineOf, openAgentWorld, taskOf } from './agent-world.ts';
import { openScriptedModel, type ScriptedModel } from './scripted-model.ts';

let world: AgentWorld;
const open: ScriptedModel[] = [];
beforeAll(async () => {
  world = await openAgentWorld(['tiny-qwen3.yaml']);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((scripted) => scripted.close()));
});

type Contracts = Parameters<typeof repliesFromKnowledge>[1];

async function scripted(
  overrides: Contracts = {},
  options: Partial<ModelServerOptions> = {},
  ...rest: Parameters<typeof openScriptedModel> extends [unknown, ...infer Rest] ? Rest : never
): Promise<ScriptedModel> {
  const replies = repliesFromKnowledge(engineOf(world).selection, overrides);
  const one = await openScriptedModel({ replies, ...options }, ...rest);
  open.push(one);
  return one;
}

function portsOf({ model }: ScriptedModel, change: Partial<AttemptPorts> = {}): AttemptPorts {
  return {
    model,
    check: async () => [],
    review: true,
    isLastAttempt: false,
    attempt: 1,
    round: 1,
    phase: 'operations',
    signal: new AbortController().signal,
    ...change,
  };
}

const unitFinding: RepairFinding = {
  contract: 'norm.rms',
  source: 'unit',
  file: 'norm_rms.cpp',
  line: null,
  message: 'norm.rms#small_row: out: expected 0.5 got 0.4',
  expected: '0.5',
  got: '0.4',
  clause: 'eps stands inside the root',
};

describe('one attempt at one contract', () => {
  it('accepts every contract of an engine from a model that is right, with one question and one review each', async () => {
    const one = await scripted();
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
    const one = await scripted();
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
    const one = await scripted({ contracts: { 'norm.rms': { text } } });
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
      const one = await scripted({ contracts: { 'norm.rms': kind } });
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
    const one = await scripted({}, {}, {}, limits);
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
    const one = await scripted({}, {}, { context_tokens: 2048 });
    const outcome = await attemptContract(taskOf(world, 'norm.rms'), portsOf(one));
    expect(outcome).toMatchObject({ outcome: 'refused', stop: { reason: 'context-overflow' } });
    expect(outcome.stop?.message).toMatch(/context/);
  });

  it('says which sections a small context left out, and keeps contract, header and rules', async () => {
    const one = await scripted({}, {}, { context_tokens: 16_000, max_output_tokens: 2048 });
    const outcome = await attemptContract(taskOf(world, 'attention.block'), portsOf(one, { review: false }));
    expect(outcome.outcome).toBe('accepted');
    expect(outcome.notes).toHaveLength(1);
    expect(outcome.notes[0]).toContain('left out: ');
    expect(one.server.log[0]!.prompt).toContain('=== The contract ===');
    expect(one.server.log[0]!.prompt).toContain('=== Header to implement: attention_block.h ===');
  });

  it('answers the same question from the record: a repeated attempt costs nothing and comes out the same', async () => {
    const one = await scripted();
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
    const one = await scripted({}, { endpoint, script: ['prose-around'] });
    const outcome = await attemptContract(taskOf(world, 'kv.cache'), portsOf(one));
    expect(outcome).toMatchObject({ outcome: 'accepted', notes: [] });
  });
});

describe('the reviewer', () => {
  const objects = (line: number | undefined, reason: string, clause = 'invariant:eps-inside') =>
    review((id) =>
      id === clause
        ? { verdict: 'violated', ...(line === undefined ? {} : { line }), reason }
        : { verdict: 'met' },
    );

  async function reviewed(reviewer: Replies, change: Partial<AttemptPorts> = {}): Promise<AttemptOutcome> {
    const one = await scripted({ reviewer });
    return attemptContract(taskOf(world, 'norm.rms'), portsOf(one, change));
  }

  it('sends a file back with clause, line and reason', async () => {
    const outcome = await reviewed(objects(20, 'eps is added twice'));
    expect(outcome).toMatchObject({ outcome: 'rejected', attempt: { rejectedBy: ['review'], calls: 2 } });
    expect(outcome.findings).toEqual([
      {
        contract: 'norm.rms',
        source: 'review',
        file: 'norm_rms.cpp',
        line: 20,
        message: 'eps is added twice',
        expected: 'clause invariant:eps-inside holds',
        got: expect.any(String),
        clause: 'a row of zeros gives zeros, never NaN',
      },
    ]);
  });

  it('cannot fail the last attempt: its objections are kept for people', async () => {
    const outcome = await reviewed(objects(20, 'eps is added twice'), { isLastAttempt: true });
    expect(outcome).toMatchObject({
      outcome: 'accepted',
      findings: [],
      objections: [{ source: 'review', line: 20 }],
    });
  });

  it('cannot pass what a gate rejects', async () => {
    const outcome = await reviewed(reviewAll('met'), {
      check: async () => [unitFinding],
      isLastAttempt: true,
    });
    expect(outcome.outcome).toBe('rejected');
  });

  it.each([
    ['without a line', objects(undefined, 'wrong')],
    ['with a line beyond the file', objects(4000, 'wrong')],
    ['without a reason', objects(5, ' ')],
  ])('is ignored in an objection %s', async (_, reviewer) => {
    const outcome = await reviewed(reviewer);
    expect(outcome).toMatchObject({ outcome: 'accepted', objections: [] });
    expect(outcome.notes).toEqual([expect.stringContaining('an objection was ignored')]);
  });

  it('is ignored where it objects to a clause that does not exist', async () => {
    const value = { clauses: [{ clause: 'style:1', verdict: 'violated', line: 3, reason: 'ugly' }] };
    const outcome = await reviewed(() => ({ kind: 'json', value }));
    expect(outcome).toMatchObject({
      outcome: 'accepted',
      notes: ['an objection was ignored: the contract has no clause "style:1"'],
    });
  });

  it.each<[string, Replies]>([
    ['prose', () => ({ kind: 'text', text: 'Looks good to me!' })],
    ['another schema', () => ({ kind: 'json', value: { verdict: 'bad' } })],
    ['a refusal', () => ({ kind: 'refusal', text: 'no' })],
  ])('that answers with %s rejects nothing', async (_, reviewer) => {
    const outcome = await reviewed(reviewer);
    expect(outcome).toMatchObject({ outcome: 'accepted', objections: [] });
    expect(outcome.notes).toEqual([expect.stringContaining('not reviewed')]);
  });

  it('records what the contract leaves open', async () => {
    const open = review((id) =>
      id === 'edges:1' ? { verdict: 'unstated', reason: 'or none at all' } : { verdict: 'met' },
    );
    const outcome = await reviewed(open);
    expect(outcome).toMatchObject({
      outcome: 'accepted',
      unstated: [{ clause: 'edges:1', reason: 'or none at all' }],
    });
  });

  it('sees contract and numbered code, and not a word of the implementer', async () => {
    const one = await scripted({
      contracts: {
        'norm.rms': {
          edits: [
            { find: '#include "norm_rms.h"', replace: '// This meets every clause.\n#include "norm_rms.h"' },
          ],
        },
      },
    });
    await attemptContract(
      taskOf(world, 'norm.rms', { findings: [unitFinding], previous: 'int earlier_text;\n' }),
      portsOf(one),
    );
    const { prompt } = one.server.log.find(({ role }) => role === 'reviewer')!;
    expect(prompt).toContain('[invariant:eps-inside] a row of zeros gives zeros, never NaN');
    expect(prompt).toMatch(/^ +\d+\| void rms_norm\(/m);
    for (const secret of ['This meets every clause', 'earlier_text', 'expected 0.5 got 0.4'])
      expect(prompt).not.toContain(secret);
  });
});
