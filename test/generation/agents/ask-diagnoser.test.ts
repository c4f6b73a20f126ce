import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askDiagnoser, type DiagnoserTask } from '../../../src/generation/agents/ask-diagnoser.ts';
import { proposeRealization } from '../../../src/generation/agents/propose-realization.ts';
import { makeFinding } from '../../../src/verification/gate-context.ts';
import { rightText } from '../../support/model-server/knowledge-replies.ts';
import type { Reply } from '../../support/model-server/reply.ts';
import { type AgentWorld, agentContracts, engineOf, openAgentWorld, taskOf } from './agent-world.ts';
import { closeScripted, openScripted, portsOf } from './attempt-world.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await openAgentWorld(['tiny-qwen3.yaml']);
});
afterEach(closeScripted);

function right(id: string): string {
  const { selection } = engineOf(world);
  return rightText(
    agentContracts(engineOf(world)).find(({ contract }) => contract.frontMatter.id === id)!,
    selection,
  );
}

const ids = ['attention.core', 'kv.cache', 'position.rope'];

function diagnosis(): DiagnoserTask {
  return {
    suspects: ids.map((contract) => ({
      contract,
      evidence: ['it takes part in the first state that diverges'],
    })),
    findings: [
      makeFinding('trace', 'attention.block', 'layer 0 after attention is the first to diverge', {
        stage: 1,
      }),
    ],
    briefs: ids.map((id) => taskOf(world, id).contract),
    files: ids.map((id) => ({ contract: id, path: taskOf(world, id).path, text: right(id) })),
  };
}

describe('the diagnoser', () => {
  async function rank(reply: Reply) {
    const one = await openScripted(world, { diagnoser: () => reply });
    const outcome = await askDiagnoser(diagnosis(), portsOf(one));
    return {
      ...outcome,
      ids: outcome.ranking.map(({ contract }) => contract),
      prompt: one.server.log[0]!.prompt,
    };
  }

  it('ranks the suspects; whom it leaves out keep their order behind', async () => {
    const value = { suspects: [{ contract: 'position.rope', reason: 'line 12 turns the other way' }] };
    const outcome = await rank({ kind: 'json', value });
    expect(outcome.ids).toEqual(['position.rope', 'attention.core', 'kv.cache']);
    expect(outcome.ranking[0]!.reason).toBe('line 12 turns the other way');
    expect(outcome.note).toBeNull();
  });

  it('cannot accuse what is no suspect, nor anyone twice', async () => {
    const suspects = ['norm.rms', 'kv.cache', 'kv.cache', 'attention.core'].map((contract) => ({
      contract,
      reason: 'x',
    }));
    expect((await rank({ kind: 'json', value: { suspects } })).ids).toEqual([
      'kv.cache',
      'attention.core',
      'position.rope',
    ]);
  });

  it.each<[string, Reply]>([
    ['prose', { kind: 'text', text: 'It is surely the rotation.' }],
    ['another schema', { kind: 'json', value: ['position.rope'] }],
    ['nobody', { kind: 'json', value: { suspects: [] } }],
    ['a refusal', { kind: 'refusal', text: 'no' }],
  ])('that names %s leaves the order as it was, and says why', async (_, reply) => {
    const outcome = await rank(reply);
    expect(outcome.ids).toEqual(ids);
    expect(outcome.note).toMatch(/\S/);
  });

  it('sees evidence, findings, code and contracts', async () => {
    const { prompt } = await rank({ kind: 'json', value: { suspects: [] } });
    expect(prompt).toContain('"stage":1');
    expect(prompt).toContain('it takes part in the first state that diverges');
    expect(prompt).toContain('=== Code of kv.cache: kv_cache.cpp ===');
    expect(prompt).toContain('=== Contract position.rope ===');
  });
});

describe('the optimizer', () => {
  const profile = {
    ...{ decodeShare: 0.4, prefillShare: 0.2, decodeTokensPerSecond: 100, decodeLimit: 250 },
    ...{ prefillTokensPerSecond: null, prefillLimit: null, notes: [] },
  };

  async function propose(change: (text: string) => string) {
    const present = right('norm.rms');
    const files = [{ path: 'norm_rms.cpp', text: change(present) }];
    const one = await openScripted(world, { optimizer: () => ({ kind: 'files', files }) });
    return proposeRealization(taskOf(world, 'norm.rms', { previous: present }), profile, portsOf(one));
  }

  it('gives a file of its own, with its origin', async () => {
    const proposal = await propose((text) => text.replace('16, [&]', '4, [&]'));
    expect(proposal).toMatchObject({
      kind: 'file',
      file: { contract: 'norm.rms', path: 'norm_rms.cpp', origin: { attempt: 1 } },
    });
  });

  it('is told its share and the distance to the limit', async () => {
    const one = await openScripted(world);
    await proposeRealization(
      taskOf(world, 'norm.rms', { previous: right('norm.rms') }),
      profile,
      portsOf(one),
    );
    const { prompt } = one.server.log[0]!;
    expect(prompt).toContain('Share of this contract: decoding 40.0 %, prefill 20.0 %.');
    expect(prompt).toContain('100.0 tokens/s, 40.0 % of the physical limit of 250.0');
    expect(prompt).toContain('Engine, prefill: not measured.');
  });

  it.each<[string, (text: string) => string, string]>([
    ['the present text', (text) => text, 'unchanged'],
    ['code that breaks the static rules', (text) => `${text}asm("nop");\n`, 'static'],
  ])('proposes nothing with %s', async (_, change, reason) => {
    expect(await propose(change)).toMatchObject({ kind: 'none', reason });
  });
});
