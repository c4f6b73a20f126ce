import { beforeAll, describe, expect, it } from 'vitest';
import { checkTree } from '../../../src/knowledge/load-catalog.ts';
import { sha256Of, type Tree } from '../../../src/knowledge/read-tree.ts';
import { selectRealizations } from '../../../src/knowledge/select-realizations.ts';
import { explainConfigGap } from '../../../src/knowledge/views/explain-config-gap.ts';
import { explainGap } from '../../../src/knowledge/views/explain-gap.ts';
import type { Catalog } from '../../../src/model/catalog.ts';
import { describeGap } from '../../../src/model/knowledge-gap.ts';
import { formatProblem } from '../../../src/model/problem.ts';
import type { Target } from '../../../src/model/target.ts';
import { changeKnowledge, openRealKnowledge } from './real-knowledge.ts';

let real: Awaited<ReturnType<typeof openRealKnowledge>>;
let catalog: Catalog;
let target: Target;

beforeAll(async () => {
  real = await openRealKnowledge();
  catalog = real.view.catalog;
  target = real.view.examples.find(({ name }) => name === 'tiny-qwen3')!.target;
});

/** The knowledge after somebody wrote the files that a gap asks for: copies of what is there, with the line as told. */
function writeWhatIsAsked(tree: Tree, write: readonly string[], model: string): Catalog {
  const files = new Map(tree);
  for (const line of write) {
    const [, path, applies] = /^`knowledge\/(.+?)` with the line `(.+?)`$/.exec(line)!;
    const text = tree.get(model)!.text.replace(/^\/\/ applies: .*$/m, applies!);
    files.set(path!, { path: path!, text, sha256: sha256Of(text) });
  }
  const checked = checkTree(files);
  if (checked.catalog === undefined) throw new Error(checked.problems.map(formatProblem).join('\n'));
  return checked.catalog;
}

describe('the gap of a target', () => {
  it('is empty where knowledge covers it', () => {
    expect(explainGap(catalog, target)).toEqual({ missing: [], smallest: [], similar: [], write: [] });
  });

  it('names the one realization that is missing; with the file that it asks for nothing is', () => {
    const asked: Target = { ...target, 'numerics.weights': 'f16' };
    const gap = explainGap(catalog, asked);
    expect(gap.smallest.map(({ contract, need }) => [contract, need])).toEqual([
      ['linear.dense', 'realization'],
    ]);
    expect(gap.write).toEqual([
      '`knowledge/contracts/linear-dense/realizations/cpu-x86_64-f16.cpp` with the line `// applies: hardware.platform=cpu-x86_64, numerics.weights=f16`',
    ]);
    const folder = 'contracts/linear-dense/realizations';
    const grown = writeWhatIsAsked(real.tree, gap.write, `${folder}/cpu-x86_64-bf16.cpp`);
    expect(selectRealizations(catalog, asked).missing).not.toEqual([]);
    expect(selectRealizations(grown, asked).missing).toEqual([]);
  });

  it('asks for every part of a new platform, and first for the facts of it', () => {
    const gap = explainGap(catalog, { ...target, 'hardware.platform': 'hip', 'hardware.arch': 'gfx942' });
    expect(gap.write[0]).toMatch(/^`knowledge\/platforms\/hip\.yaml`/);
    const needed = selectRealizations(catalog, target)
      .contracts.filter(({ realization }) => realization !== undefined)
      .filter(({ realization }) => realization!.applies['hardware.platform'] !== undefined)
      .map(({ contract }) => contract.frontMatter.id);
    expect(gap.smallest.map(({ contract }) => contract).sort()).toEqual(needed.sort());
    expect(gap.write).toContainEqual(expect.stringMatching(/^`hip` in the `applies` line of .*frames\.cpp/));
  });

  it('asks for nothing below a contract that does not cover the model', () => {
    const gap = explainGap(catalog, { ...target, 'model.attention': 'mla' });
    expect(gap.smallest.map(({ contract, need }) => [contract, need])).toEqual([
      ['attention.block', 'wider contract'],
    ]);
    expect(gap.missing.map(({ contract }) => contract)).toContain('attention.core');
    expect(gap.write).toEqual([
      'a version of attention.block whose applies_when has `model.attention: mla`, or `npx metainfer knowledge new attention.mla` and a realization of decoder.model that requires it',
    ]);
  });

  it('asks for a contract that is not there by its name', () => {
    const without = {
      ...catalog,
      contracts: catalog.contracts.filter(({ frontMatter }) => frontMatter.id !== 'text.stop'),
    };
    const gap = explainGap(without, target);
    expect(gap.smallest).toEqual([
      { contract: 'text.stop', need: 'new contract', says: 'a contract text.stop' },
    ]);
    expect(gap.write).toEqual(['`npx metainfer knowledge new text.stop`, then what its skeleton asks for']);
  });

  it('shows covered targets, the one with the fewest other values first', () => {
    const { similar } = explainGap(catalog, { ...target, 'numerics.weights': 'f16' });
    expect(similar[0]).toEqual({
      name: expect.stringMatching(/^qwen3: .* on cpu-x86_64 in f32$/),
      differs: ['numerics.weights = f32, not f16'],
    });
    const counts = similar.map(({ differs }) => differs.length);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    const view = changeKnowledge(real, { 'contracts/linear-dense/realizations/cpu-x86_64-f32.cpp': null });
    const other = explainGap(view.catalog, { ...target, 'numerics.weights': 'f16' }).similar;
    expect(other.map(({ name }) => name).filter((name) => name.endsWith('in f32'))).toEqual([]);
  });

  it('reads as a short list', () => {
    const lines = describeGap(explainGap(catalog, { ...target, 'numerics.weights': 'f16' }));
    expect(lines[0]).toBe('The least that would cover it: code for linear.dense.');
    expect(lines[1]).toMatch(/^Covered already, and near: qwen3: .* \(numerics\.weights = f32, not f16\); /);
    expect(lines.slice(2).every((line) => line.startsWith('To write: '))).toBe(true);
  });
});

describe('the gap of a config.json', () => {
  const config = {
    ...{ model_type: 'olmo9', architectures: ['Olmo9ForCausalLM'], hidden_size: 64, num_hidden_layers: 2 },
    ...{ num_attention_heads: 4, num_key_value_heads: 2, intermediate_size: 128, vocab_size: 100 },
    ...{ max_position_embeddings: 512, rms_norm_eps: 1e-6, rope_theta: 10000, hidden_act: 'silu' },
    ...{ tie_word_embeddings: true, bos_token_id: 1, eos_token_id: 2, final_logit_flavour: 30, zigzag: 4 },
  };

  it('leads from each key to the contract whose subject it is, or to a new one', () => {
    const gap = explainConfigGap(catalog, config)!;
    expect(gap.missing.map(({ contract }) => contract)).toEqual([
      'config.json model_type',
      'config.json final_logit_flavour',
      'config.json zigzag',
    ]);
    expect(gap.smallest).toEqual([
      { contract: 'head.logits', need: 'wider contract', says: 'head.logits with final_logit_flavour' },
      { contract: 'model.zigzag', need: 'new contract', says: 'a contract for zigzag' },
    ]);
    expect(gap.write[0]).toContain('`knowledge/models/olmo9.yaml`');
    expect(gap.write).toContainEqual(expect.stringContaining('`npx metainfer knowledge new model.zigzag`'));
  });

  it('names the covered model that is left without those keys', () => {
    const { similar } = explainConfigGap(catalog, config)!;
    expect(similar[0]?.differs).toEqual(['without model_type, final_logit_flavour, zigzag']);
    expect(similar[0]?.name).toContain('tied head');
  });

  it('is none where the file has nothing but mistakes, or none at all', () => {
    const { model_type: _, final_logit_flavour: __, zigzag: ___, architectures: ____, ...rest } = config;
    const known = { ...rest, model_type: 'llama' };
    expect(explainConfigGap(catalog, known)).toBeUndefined();
    expect(explainConfigGap(catalog, { ...known, hidden_size: -1 })).toBeUndefined();
  });
});
