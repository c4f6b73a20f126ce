import { beforeAll, describe, expect, test } from 'vitest';
import { loadCatalog } from '../../src/knowledge/load-catalog.ts';
import { type Filling, selectRealizations } from '../../src/knowledge/select-realizations.ts';
import type { Catalog } from '../../src/model/catalog.ts';
import { knowledgeRoot } from '../../src/preparation/knowledge-base.ts';
import { knowledgeTarget } from './knowledge-target.ts';
import { loadFiles, realizationText, validTree } from './knowledge-tree.ts';

async function load(change: (files: Record<string, string>) => void = () => {}): Promise<Catalog> {
  const files = validTree();
  change(files);
  const { catalog, problems } = await loadFiles(files);
  if (catalog === undefined) throw new Error(JSON.stringify(problems));
  return catalog;
}

const uncovered = { ...knowledgeTarget, 'numerics.weights': 'q8_0' } as const;
let catalog: Catalog;
beforeAll(async () => {
  catalog = await load();
});

type Statuses = { readonly missing: readonly string[] } & Readonly<Record<string, unknown>>;

function statuses(fill: Filling, from = catalog, target = knowledgeTarget): Statuses {
  const { contracts, missing } = selectRealizations(from, target, fill);
  const byId = contracts.map(({ contract, status }) => [contract.frontMatter.id, status]);
  return { ...Object.fromEntries(byId), missing };
}

describe('who fills a contract', () => {
  test('knowledge first: a realization where one applies, with or without a model', () => {
    const expected = { 'norm.rms': 'realization', 'harness.protocol': 'realization', missing: [] };
    expect(statuses({ mode: 'knowledge-first', hasModel: true })).toMatchObject(expected);
    expect(statuses({ mode: 'knowledge-first', hasModel: false })).toMatchObject(expected);
  });

  test('knowledge first: an agent where none applies', () => {
    const fill = { mode: 'knowledge-first', hasModel: true } as const;
    expect(statuses(fill, catalog, uncovered)).toMatchObject({
      ...{ 'norm.rms': 'agent', 'harness.protocol': 'realization', missing: [] },
    });
    const norm = selectRealizations(catalog, uncovered, fill).contracts[0];
    expect(norm?.realization).toBeUndefined();
    expect(norm?.reason).toBe(
      'norm.rms: no realization for numerics.weights = q8_0; there is bf16, f32. An agent writes it from the contract.',
    );
  });

  test('an agent at a gap may use what every realization of its contract needs', async () => {
    const { catalog: real } = await loadCatalog(knowledgeRoot());
    const elsewhere = { 'hardware.platform': 'hip' };
    const contracts = real!.contracts.map((contract) => {
      const realizations = contract.realizations.map((entry) => ({ ...entry, applies: elsewhere }));
      return contract.frontMatter.id === 'text.pre-tokenizer' ? { ...contract, realizations } : contract;
    });
    const text = { 'tokenizer.model': 'byte_level_bpe', 'tokenizer.pre_tokenizer': 'qwen2' } as const;
    const target = { ...knowledgeTarget, ...text, 'tokenizer.normalizer': 'nfc' };
    const fill = { mode: 'knowledge-first', hasModel: true } as const;
    const selection = selectRealizations({ ...real!, contracts }, target, fill);
    const gap = selection.contracts.find(({ contract }) => contract.frontMatter.id === 'text.pre-tokenizer');
    expect(gap).toMatchObject({ status: 'agent' });
    expect(gap!.requires).toEqual(expect.arrayContaining(['text.unicode', 'text.utf8']));
    // The same once it is written: nothing else may change by that.
    const rewritten = new Set(['text.pre-tokenizer']);
    const after = selectRealizations({ ...real!, contracts }, target, { ...fill, rewritten });
    expect(after.contracts.map(({ requires }) => requires)).toEqual(
      selection.contracts.map(({ requires }) => requires),
    );
  });

  test('an agent at a gap is told of no part that only another platform has', async () => {
    const { catalog: real } = await loadCatalog(knowledgeRoot());
    const contracts = real!.contracts.map((contract) => {
      const realizations = contract.realizations.filter(({ file }) => file.endsWith('.cu'));
      return contract.frontMatter.id === 'mlp.gated' ? { ...contract, realizations } : contract;
    });
    const fill = { mode: 'knowledge-first', hasModel: true } as const;
    const selection = selectRealizations({ ...real!, contracts }, knowledgeTarget, fill);
    const gap = selection.contracts.find(({ contract }) => contract.frontMatter.id === 'mlp.gated');
    expect([gap?.status, selection.missing]).toEqual(['agent', []]);
    expect(gap!.requires).toContain('runtime.vectors');
    expect(gap!.requires).not.toContain('runtime.cuda');
  });

  test('says that a model is missing and how to name one', () => {
    const { missing, ...rest } = statuses(
      { mode: 'knowledge-first', hasModel: false },
      ...([catalog, uncovered] as const),
    );
    expect(rest['norm.rms']).toBe('missing');
    expect(missing).toEqual([
      'norm.rms: no realization for numerics.weights = q8_0; there is bf16, f32',
      'norm.rms is for agents to write (generation.mode: knowledge-first), and no language model is configured: `metainfer build --llm` on the command line, METAINFER_LLM for the app',
    ]);
  });

  test.each(['zero-reference', 'source-reference'] as const)('%s: agents alone', (mode) => {
    expect(statuses({ mode, hasModel: true })).toEqual({
      ...{ 'norm.rms': 'agent', 'harness.protocol': 'agent', 'interface.cli': 'agent', missing: [] },
    });
    expect(statuses({ mode, hasModel: false })).toEqual({
      ...{ 'norm.rms': 'missing', 'harness.protocol': 'missing', 'interface.cli': 'missing' },
      missing: [expect.stringMatching(/^3 contracts are for agents to write .* no language model/)],
    });
  });

  test('no agent writes what the contract does not describe', () => {
    const target = { ...knowledgeTarget, 'model.norm': 'layer' } as unknown as typeof knowledgeTarget;
    expect(statuses({ mode: 'zero-reference', hasModel: true }, catalog, target)).toMatchObject({
      ...{ 'norm.rms': 'missing', 'harness.protocol': 'agent' },
      missing: ['norm.rms: does not cover model.norm = layer; it covers rms'],
    });
  });

  test('a header that is the whole contract is nobody’s to write', async () => {
    const from = await load((files) => {
      files['contracts/norm-rms/contract.md'] = files['contracts/norm-rms/contract.md']!.replace(
        'provides: { header: norm_rms.h,',
        'provides: { header: norm_rms.h, header_only: true,',
      )
        .replace(/^numerics:.*\n/m, '')
        .replace('gates: [gate.yaml]', 'gates: []')
        .replace(/invariants: .*/, 'invariants: []');
      for (const path of Object.keys(files))
        if (/norm-rms\/(?:realizations|gate|shim|reference)/.test(path)) delete files[path];
      files['contracts/norm-rms/norm_rms.h'] = '#pragma once\ninline int rms_norm(int x) { return x; }\n';
      files['failure-modes/fm-22-rmsnorm-cast-order.md'] = files[
        'failure-modes/fm-22-rmsnorm-cast-order.md'
      ]!.replace('gates: [trace, norm.rms#zero_row]', 'gates: [trace]');
    });
    expect(statuses({ mode: 'zero-reference', hasModel: true }, from)['norm.rms']).toBe('header-only');
  });

  test('a contract that an agent wrote again stays its own, whatever knowledge holds', () => {
    const rewritten = new Set(['norm.rms', 'no.such', 'interface.cli']);
    expect(statuses({ mode: 'knowledge-first', hasModel: false, rewritten })).toEqual({
      ...{ 'norm.rms': 'agent', 'harness.protocol': 'realization', 'interface.cli': 'agent', missing: [] },
    });
  });
});

describe('a realization that fills several contracts', () => {
  const fused = () =>
    load((files) => {
      files['contracts/harness-protocol/realizations/a-fused.cpp'] = realizationText(
        'harness.protocol',
        '#include "harness_protocol.h"\n#include "norm_rms.h"\nint rms_norm(int x) { return x; }\nint run_harness() { return rms_norm(1); }\n',
        'any',
        '// replaces: norm.rms\n',
      );
    });

  test('steps back where an agent wrote one of them, so that nothing is defined twice', async () => {
    const from = await fused();
    const fill = { mode: 'knowledge-first', hasModel: false } as const;
    expect(statuses(fill, from)['norm.rms']).toBe('replaced');
    const { contracts } = selectRealizations(from, knowledgeTarget, {
      ...fill,
      rewritten: new Set(['norm.rms']),
    });
    expect(contracts.map(({ status, realization }) => [status, realization?.file])).toEqual([
      ['agent', undefined],
      ['realization', 'posix.cpp'],
      ['realization', 'posix.cpp'],
    ]);
  });

  test('replaces nothing once an agent writes its own contract', async () => {
    const rewritten = new Set(['harness.protocol']);
    expect(statuses({ mode: 'knowledge-first', hasModel: false, rewritten }, await fused())).toMatchObject({
      ...{ 'norm.rms': 'realization', 'harness.protocol': 'agent' },
    });
  });
});
