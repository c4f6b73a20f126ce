import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type AttemptOutcome,
  type AttemptPorts,
  attemptContract,
} from '../../../src/generation/agents/attempt-contract.ts';
import type { Replies } from '../../support/model-server/reply.ts';
import { review, reviewAll } from '../../support/model-server/review-replies.ts';
import { type AgentWorld, openAgentWorld, taskOf } from './agent-world.ts';
import { closeScripted, openScripted, portsOf, unitFinding } from './attempt-world.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await openAgentWorld(['tiny-qwen3.yaml']);
});
afterEach(closeScripted);

describe('the reviewer', () => {
  const objects = (line: number | undefined, reason: string, clause = 'invariant:eps-inside') =>
    review((id) =>
      id === clause
        ? { verdict: 'violated', ...(line === undefined ? {} : { line }), reason }
        : { verdict: 'met' },
    );

  async function reviewed(reviewer: Replies, change: Partial<AttemptPorts> = {}): Promise<AttemptOutcome> {
    const one = await openScripted(world, { reviewer });
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
    const one = await openScripted(world, {
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
