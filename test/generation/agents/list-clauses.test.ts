import { beforeAll, describe, expect, it } from 'vitest';
import { listClauses } from '../../../src/generation/agents/list-clauses.ts';
import { type AgentWorld, agentContracts, openAgentWorld, taskOf } from './agent-world.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await openAgentWorld(['tiny-qwen3.yaml']);
});

describe('the clauses of a contract', () => {
  it('have ids of their own and words of the contract, for every contract', () => {
    for (const { contract } of agentContracts(world.engines.get('tiny-qwen3.yaml')!)) {
      const clauses = listClauses(taskOf(world, contract.frontMatter.id).contract);
      expect(new Set(clauses.map(({ id }) => id)).size).toBe(clauses.length);
      for (const { id, text } of clauses) {
        expect(id).toMatch(/^[a-z0-9-]+:[A-Za-z0-9_:-]+$/);
        expect(text).toMatch(/\S/);
      }
      for (const invariant of contract.frontMatter.invariants)
        expect(clauses).toContainEqual({ id: `invariant:${invariant.id}`, text: invariant.says });
    }
  });

  it('cut steps, edges and mistakes one by one, and leave out example and cost', () => {
    const clauses = listClauses(taskOf(world, 'norm.rms').contract);
    const of = (part: string) => clauses.filter(({ id }) => id.startsWith(`${part}:`));
    expect(of('steps').map(({ text }) => text.slice(0, 3))).toEqual(['1. ', '2. ', '3. ', 'Act']);
    expect(of('edges')).toHaveLength(9);
    expect(of('what-people-get-wrong')).toHaveLength(4);
    expect(clauses.filter(({ id }) => /^(?:example|cost):/.test(id))).toEqual([]);
  });

  it('keep a fenced block and a table whole', () => {
    const text = listClauses(taskOf(world, 'harness.protocol').contract);
    const frames = text.filter(({ id }) => id.startsWith('frames:'));
    expect(frames).toHaveLength(3);
    expect(frames[2]!.text.split('\n')).toHaveLength(15);
    expect(text.find(({ id }) => id === 'steps:1')!.text).toMatch(/^```\n[\s\S]*\n```$/);
  });
});
