import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkIncludes } from '../../src/generation/check-includes.ts';
import { composeEngine } from '../../src/generation/compose-engine.ts';
import { findDeadCode } from '../../src/generation/find-dead-code.ts';
import { loadCatalog } from '../../src/knowledge/load-catalog.ts';
import { selectRealizations } from '../../src/knowledge/select-realizations.ts';
import type { Catalog } from '../../src/model/catalog.ts';
import { Constraints } from '../../src/model/constraints.ts';
import { readModelConfig } from '../../src/model/model-config.ts';
import type { ModelFacts, TokenizerFacts } from '../../src/model/model-facts.ts';
import { formatProblem } from '../../src/model/problem.ts';
import { toTarget } from '../../src/model/target.ts';
import { countCodeLines } from '../../src/verification/gates/static.ts';

const root = join(import.meta.dirname, '../../knowledge');
const noTokenizer: TokenizerFacts = { model: 'none', preTokenizer: 'none', normalizer: 'none' };
let catalog: Catalog;

beforeAll(async () => {
  const loaded = await loadCatalog(root);
  expect(loaded.problems.map(formatProblem)).toEqual([]);
  if (loaded.catalog !== undefined) catalog = loaded.catalog;
});

function constraintsFor(weights: string, arch: string, platform = 'cpu-x86_64'): Constraints {
  return Constraints.parse({
    apiVersion: 'metainfer/v1',
    name: 'engine-of-the-tests',
    model: { id: 'org/one' },
    weights: { source: 'synthetic', seed: 1 },
    hardware: { platform, arch, threads: 2, memory: 1_000_000 },
    numerics: { weights },
    parallelism: {},
    serving: { max_context: 64, max_batch: 2 },
    workload: { prompt_tokens: 8, output_tokens: 8 },
    goals: { require: [], fidelity: { mean_kld: 1e-6, top1_agreement: 1 } },
    generation: { budget: {} },
  });
}

function compose(
  facts: ModelFacts,
  tokenizer: TokenizerFacts,
  weights = 'bf16',
  arch = 'avx2',
  platformId = 'cpu-x86_64',
) {
  const constraints = constraintsFor(weights, arch, platformId);
  const selection = selectRealizations(catalog, toTarget(constraints, facts, tokenizer));
  const platform = catalog.platforms.find(({ id }) => id === platformId);
  if (platform === undefined) throw new Error(`knowledge/platforms has no ${platformId}`);
  return composeEngine({
    constraints,
    constraintsText: 'name: x\n',
    facts,
    modelConfig: {},
    tokenizer,
    selection,
    platform,
  });
}

async function factsOf(
  checkpoint: string,
  change: Readonly<Record<string, unknown>> = {},
): Promise<ModelFacts> {
  const path = join(import.meta.dirname, '../fixtures/checkpoints', checkpoint, 'config.json');
  const config = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  const { facts, problems } = readModelConfig({ ...config, ...change });
  if (facts === undefined) throw new Error(problems.map(formatProblem).join('\n'));
  return facts;
}

describe('the knowledge base of this repository', () => {
  test.each([
    ['cpu-x86_64', ['f32', 'bf16']],
    ['cuda', ['bf16', 'f16']],
  ])('covers every model that it lists on %s, in %j, on every arch', (platform, formats) => {
    expect(catalog.models.map((model) => model.id)).toHaveLength(15);
    const missing = catalog.models.flatMap((model) => {
      const { facts } = readModelConfig(model.config, model.generationConfig);
      if (facts === undefined) return [`${model.id}: no facts`];
      // Experts have no kernels for a GPU yet: a request says so by name.
      if (platform === 'cuda' && facts.experts !== undefined) return [];
      const archs = catalog.platforms.find(({ id }) => id === platform)?.archs ?? {};
      expect(Object.keys(archs).length).toBeGreaterThan(1);
      return formats.flatMap((weights) =>
        Object.keys(archs).flatMap((arch) => {
          const target = toTarget(constraintsFor(weights, arch, platform), facts, model.tokenizer);
          return selectRealizations(catalog, target).missing.map(
            (reason) => `${model.id} ${weights} ${arch}: ${reason}`,
          );
        }),
      );
    });
    expect(missing).toEqual([]);
  });

  const engines: readonly [string, () => Promise<[ModelFacts, TokenizerFacts]>][] = [
    [
      'qwen3 with the qwen2 pre-tokenizer',
      async () => [
        await factsOf('qwen3'),
        { model: 'byte_level_bpe', preTokenizer: 'qwen2', normalizer: 'nfc' },
      ],
    ],
    [
      'tiny-qwen3 with the gpt2 pre-tokenizer',
      async () => [
        await factsOf('tiny-qwen3'),
        { model: 'byte_level_bpe', preTokenizer: 'gpt2', normalizer: 'none' },
      ],
    ],
    ['qwen2 without a tokenizer', async () => [await factsOf('qwen2'), noTokenizer]],
    [
      'qwen2 with the smollm2 pre-tokenizer',
      async () => [
        await factsOf('qwen2'),
        { model: 'byte_level_bpe', preTokenizer: 'smollm2', normalizer: 'none' },
      ],
    ],
    [
      'llama with llama3 scaling',
      async () => [
        await factsOf('llama3-scaled'),
        { model: 'byte_level_bpe', preTokenizer: 'llama3', normalizer: 'none' },
      ],
    ],
    [
      'llama with a SentencePiece tokenizer',
      async () => [
        await factsOf('llama-default'),
        { model: 'sentencepiece_bpe', preTokenizer: 'none', normalizer: 'none' },
      ],
    ],
    [
      'llama with linear scaling',
      async () => [
        await factsOf('llama-default', { rope_scaling: { rope_type: 'linear', factor: 4 } }),
        noTokenizer,
      ],
    ],
    [
      'llama with yarn scaling',
      async () => [
        await factsOf('llama-default', {
          rope_scaling: { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 128 },
        }),
        noTokenizer,
      ],
    ],
    [
      'mistral with a window',
      async () => [
        await factsOf('llama-default', {
          model_type: 'mistral',
          architectures: ['MistralForCausalLM'],
          sliding_window: 8,
        }),
        noTokenizer,
      ],
    ],
  ];

  /** Families whose contracts have realizations for processors only. */
  const mixtral = {
    ...{ model_type: 'mixtral', architectures: ['MixtralForCausalLM'], num_experts: null },
    ...{ num_local_experts: 8, norm_topk_prob: null, mlp_only_layers: null },
    ...{ moe_intermediate_size: null, decoder_sparse_step: null },
  };
  const processorEngines: typeof engines = [
    ['qwen3-moe', async () => [await factsOf('qwen3-moe'), noTokenizer]],
    [
      'qwen2-moe, which has a shared expert',
      async () => [
        await factsOf('qwen3-moe', {
          ...{ model_type: 'qwen2_moe', architectures: ['Qwen2MoeForCausalLM'], attention_bias: null },
          shared_expert_intermediate_size: 72,
        }),
        noTokenizer,
      ],
    ],
    ['mixtral', async () => [await factsOf('qwen3-moe', mixtral), noTokenizer]],
    ['gemma2', async () => [await factsOf('gemma2'), noTokenizer]],
    [
      'gemma2 with a head of its own',
      async () => [await factsOf('gemma2', { tie_word_embeddings: false }), noTokenizer],
    ],
  ];
  const all = [...engines, ...processorEngines];

  test.each(processorEngines)(
    'an engine for %s on a GPU is refused by the name of what is missing',
    async (_, input) => {
      const [facts, tokenizer] = await input();
      expect(() => compose(facts, tokenizer, 'bf16', 'sm_90', 'cuda')).toThrow(
        /no realization for hardware\.platform = cuda; there is cpu-x86_64/,
      );
    },
  );

  test.each(all)('composes %s without dead code, the same bytes each time', async (_, input) => {
    const [facts, tokenizer] = await input();
    // With a norm behind each product nothing is left for linear_add, which stays for the unit gate of linear.dense.
    const unused =
      facts.gemma === undefined ? [] : [/linear_dense\.cpp:\d+: nothing refers to the function linear_add$/];
    for (const weights of ['f32', 'bf16']) {
      const sources = compose(facts, tokenizer, weights);
      expect([...findDeadCode(sources.files), ...checkIncludes(sources.files)].map(formatProblem)).toEqual(
        unused.map((text) => expect.stringMatching(text)),
      );
      expect(compose(facts, tokenizer, weights)).toEqual(sources);
    }
  });

  test.each(all)('an engine for %s has at most 2,500 lines of C++ code', async (_, input) => {
    const [facts, tokenizer] = await input();
    const sources = compose(facts, tokenizer, 'f32').files.filter((file) => /\.(?:h|cpp)$/.test(file.path));
    const lines = sources.reduce((sum, file) => sum + countCodeLines(file.text), 0);
    expect(lines).toBeLessThanOrEqual(2500);
  });

  test('a function planted at the end of any file is found, so no file throws the scan off', async () => {
    const [facts, tokenizer] = (await engines[0]?.[1]()) ?? [];
    if (facts === undefined || tokenizer === undefined) throw new Error('the first engine is gone');
    const { files } = compose(facts, tokenizer);
    const planted = files.map((file) =>
      /\.(?:h|cpp)$/.test(file.path) && file.path !== 'config.h'
        ? {
            path: file.path,
            text: `${file.text}static int planted_${file.path.replace('.', '_')}() { return 1; }\n`,
          }
        : file,
    );
    const found = findDeadCode(planted).map((problem) => problem.file);
    expect(found).toEqual(
      planted.map((file) => file.path).filter((path) => path !== 'config.h' && /\.(?:h|cpp)$/.test(path)),
    );
  });

  test('every realization is part of some engine', async () => {
    const used = new Set<string>();
    for (const [index, [, input]] of all.entries()) {
      const [facts, tokenizer] = await input();
      for (const { provenance } of [
        compose(facts, tokenizer, 'f32'),
        compose(facts, tokenizer),
        ...(index < engines.length ? [compose(facts, tokenizer, 'bf16', 'sm_90', 'cuda')] : []),
      ]) {
        for (const { origin } of provenance) {
          if (origin.kind === 'realization') used.add(origin.realization);
        }
      }
    }
    const folders = await readdir(join(root, 'contracts'));
    const files = await Promise.all(
      folders.map(async (folder) => {
        const names = await readdir(join(root, 'contracts', folder, 'realizations')).catch(() => []);
        return names.map((file) => `contracts/${folder}/realizations/${file}`);
      }),
    );
    expect(files.flat().filter((path) => !used.has(path))).toEqual([]);
  });
});
