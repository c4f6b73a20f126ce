import { blockLength, computeArithmetic } from '../model/arithmetic.ts';
import { coveredWeightFormats } from '../model/constraints.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import type { Problem } from '../model/problem.ts';
import { showBytes } from '../model/show-bytes.ts';
import type { PartialConstraints } from './partial-constraints.ts';
import type { Locate } from './problem-list.ts';

type Fault = Pick<Problem, 'code' | 'path' | 'message'> & { readonly suggestion?: string };
type Rule = (constraints: PartialConstraints, facts: ModelFacts) => readonly Fault[];

/**
 * Rules between a constraint file and its model. Run again once the facts of a checkpoint folder are known; works
 * on a part of a file as well, each rule being silent where a field it needs is missing.
 */
export function checkConstraintsAgainstFacts(
  constraints: PartialConstraints,
  facts: ModelFacts,
  locate: Locate,
): Problem[] {
  return rules.flatMap((rule) =>
    rule(constraints, facts).map(
      (fault) => ({ severity: 'error', ...locate(fault.path ?? ''), ...fault }) as const,
    ),
  );
}

const rules: readonly Rule[] = [headsDivide, contextInRange, rowsAreWholeBlocks, memorySuffices];

function headsDivide({ parallelism }: PartialConstraints, facts: ModelFacts): Fault[] {
  const ranks = parallelism?.tensor;
  if (ranks === undefined || (facts.numHeads % ranks === 0 && facts.numKvHeads % ranks === 0)) return [];
  const parts = [
    facts.numHeads % ranks === 0 ? [] : [`${facts.numHeads} attention heads`],
    facts.numKvHeads % ranks === 0 ? [] : [`${facts.numKvHeads} KV heads`],
  ].flat();
  const fitting = Array.from({ length: 64 }, (_, index) => index + 1).filter(
    (count) => facts.numHeads % count === 0 && facts.numKvHeads % count === 0,
  );
  const message = `${parts.join(' and ')} are not divisible by ${ranks}; expected one of ${fitting.join(', ')} for this model.`;
  return [{ code: 'heads-not-divisible', path: 'parallelism.tensor', message }];
}

/** Yarn is made to reach factor × original positions, and published configs often keep the original limit. */
function longestContext(facts: ModelFacts): number {
  const scaling = facts.ropeScaling;
  return scaling.kind === 'yarn'
    ? Math.max(facts.maxPositions, Math.floor(scaling.factor * scaling.originalMaxPositions))
    : facts.maxPositions;
}

function contextInRange({ serving }: PartialConstraints, facts: ModelFacts): Fault[] {
  const limit = longestContext(facts);
  if (serving?.max_context === undefined || serving.max_context <= limit) return [];
  const message = `found ${serving.max_context}; expected at most ${limit}, the positions that the model was made for (max_position_embeddings).`;
  return [{ code: 'context-too-long', path: 'serving.max_context', message }];
}

function rowsAreWholeBlocks({ numerics, hardware }: PartialConstraints, facts: ModelFacts): Fault[] {
  const format = numerics?.weights;
  if (format === undefined) return [];
  const block = blockLength(format);
  const rows = [
    ['hidden_size', facts.hiddenSize],
    ['intermediate_size', facts.intermediateSize],
    ['num_attention_heads × head_dim', facts.numHeads * facts.headDim],
  ] as const;
  const broken = rows.filter(([, length]) => length % block !== 0);
  if (broken.length === 0) return [];
  const shown = broken.map(
    ([name, length]) => `${name} ${length} = ${Math.floor(length / block)} × ${block} + ${length % block}`,
  );
  const message = `${format} stores a weight row in blocks of ${block} values, and this model's rows are no multiple of that: ${shown.join('; ')}.`;
  return [
    {
      code: 'quant-row',
      path: 'numerics.weights',
      message,
      suggestion: `Expected ${coveredWeightFormats(hardware?.platform).join(' or ')} for this model.`,
    },
  ];
}

function memorySuffices(constraints: PartialConstraints, facts: ModelFacts): Fault[] {
  const { numerics, serving, workload, hardware } = constraints;
  const [platform, weights, kv_cache] = [hardware?.platform, numerics?.weights, numerics?.kv_cache];
  const [max_context, max_batch, memory] = [serving?.max_context, serving?.max_batch, hardware?.memory];
  if (
    platform === undefined ||
    weights === undefined ||
    kv_cache === undefined ||
    max_context === undefined ||
    max_batch === undefined ||
    memory === undefined
  )
    return [];
  const sizes = computeArithmetic(facts, {
    hardware: { platform },
    numerics: { weights, kv_cache },
    serving: { max_context, max_batch, kv: serving?.kv ?? 'contiguous' },
    workload: { prompt_tokens: workload?.prompt_tokens ?? 1, output_tokens: workload?.output_tokens ?? 1 },
  });
  const available = memory * (hardware?.devices ?? 1);
  if (sizes.memoryBytes <= available) return [];
  const message =
    `${showBytes(sizes.memoryBytes)} are needed and ${showBytes(available)} are given: ` +
    `weights ${showBytes(sizes.weightBytes)} (${sizes.parameters} parameters in ${weights}) + ` +
    `KV cache ${showBytes(sizes.kvBytesTotal)} (${max_batch} × ${max_context} tokens × ${sizes.kvBytesPerToken} bytes in ${kv_cache}) + ` +
    `${platform === 'cuda' ? 'workspace' : 'activations'} ${showBytes(sizes.activationBytes)}.`;
  return [
    {
      code: 'memory-too-small',
      path: 'hardware.memory',
      message,
      suggestion: 'Give more memory, or lower serving.max_context or serving.max_batch.',
    },
  ];
}
