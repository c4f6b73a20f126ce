import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Catalog, SelectedContract } from '../../src/model/catalog.ts';
import type { Contract } from '../../src/model/contract.ts';
import { agentPhases, orderForAgents, phaseOf } from '../../src/plan/agent-phases.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { prepareEngine } from '../../src/preparation/prepare-engine.ts';
import { exampleNames, readExample } from '../fixtures/examples.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await openKnowledge(mkdtempSync(join(tmpdir(), 'metainfer-phases-')));
});

function entry(id: string, requires: readonly string[], status: SelectedContract['status'] = 'agent') {
  const contract = { frontMatter: { id } } as unknown as Contract;
  return { contract, realization: undefined, status, reason: '', requires };
}

const order = (contracts: readonly SelectedContract[]) =>
  orderForAgents(contracts).map((item) => [item.entry.contract.frontMatter.id, item.phase]);

describe('the phase of a contract', () => {
  it('follows from its name', () => {
    const ids = catalog.contracts.map(({ frontMatter }) => frontMatter.id);
    const byPhase = agentPhases.map((phase) => [phase, ids.filter((id) => phaseOf(id) === phase)]);
    expect(Object.fromEntries(byPhase)).toEqual({
      foundations: [
        ...['checkpoint.config', 'checkpoint.safetensors', 'cuda.instructions', 'format.json'],
        ...['runtime.context', 'runtime.cuda', 'runtime.memory', 'runtime.threading', 'runtime.vectors'],
      ],
      text: [
        ...['sampling.token', 'text.bpe', 'text.normalizer', 'text.pre-tokenizer', 'text.stop'],
        ...['text.tokenizer', 'text.unicode', 'text.utf8'],
      ],
      operations: [
        ...['attention.capped', 'attention.core', 'embedding.scaled', 'embedding.token', 'kv.cache'],
        ...['linear.dense', 'linear.fragments', 'moe.router', 'norm.rms', 'norm.rms-offset'],
        ...['position.rope', 'position.rope-frequencies'],
      ],
      model: [
        ...['attention.block', 'attention.sandwich', 'decoder.model', 'head.capped', 'head.logits'],
        ...['mlp.experts', 'mlp.gated', 'mlp.sandwich'],
      ],
      interfaces: ['harness.protocol', 'interface.cli', 'text.generation'],
    });
  });

  it('is a later one where the contract needs one of a later phase', () => {
    const contracts = [entry('mlp.gated', []), entry('norm.rms', ['mlp.gated']), entry('kv.cache', [])];
    expect(order(contracts)).toEqual([
      ['kv.cache', 'operations'],
      ['mlp.gated', 'model'],
      ['norm.rms', 'model'],
    ]);
  });

  it('passes through a realization, which itself has none', () => {
    const contracts = [
      entry('decoder.model', []),
      entry('harness.protocol', ['decoder.model'], 'realization'),
      entry('norm.rms', ['harness.protocol']),
      entry('text.stop', ['runtime.context']),
    ];
    expect(order(contracts)).toEqual([
      ['text.stop', 'text'],
      ['decoder.model', 'model'],
      ['norm.rms', 'model'],
    ]);
  });
});

describe.each(exampleNames)('the order of writing of %s', (name) => {
  it('has what is required first, phases in their order, and every contract of a phase beside the others', async () => {
    const request = await readExample(name, catalog, 'mode: zero-reference');
    const { selection, plan } = prepareEngine(request, catalog, { agents: { hasModel: true } });
    const written = plan.cost.contracts.map(({ contract }) => contract);
    const open = selection.contracts.filter(({ status }) => status === 'agent');
    expect([...written].sort()).toEqual(open.map(({ contract }) => contract.frontMatter.id).sort());
    const late = open.flatMap(({ contract, requires }) =>
      requires
        .filter((id) => written.indexOf(id) > written.indexOf(contract.frontMatter.id))
        .map((id) => `${contract.frontMatter.id} before ${id}`),
    );
    expect(late).toEqual([]);
    const names: readonly string[] = agentPhases;
    const ranks = plan.cost.contracts.map(({ phase }) => names.indexOf(phase));
    expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
    expect(plan.cost.contracts.every(({ contract, phase }) => phase === phaseOf(contract))).toBe(true);
  });
});
