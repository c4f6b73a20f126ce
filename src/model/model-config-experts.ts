import {
  type ConfigReader,
  isAbsent,
  ownValue,
  readBoolean,
  readNumber,
  refuse,
  show,
} from './model-config-reader.ts';
import type { ExpertFacts, ModelFamily } from './model-facts.ts';

const widthRule = { min: 1, max: 1_048_576, integer: true };
const countRule = { min: 1, max: 4096, integer: true };

/** Values that transformers 5.18.0 takes for absent keys. */
const defaults = {
  qwen3_moe: { count: 128, perToken: 8, width: 768 },
  qwen2_moe: { count: 60, perToken: 4, width: 1408 },
  mixtral: { count: 8, perToken: 2, width: 14_336 },
} as const;

/** Experts of the families that have them; undefined for the others. */
export function readExperts(
  reader: ConfigReader,
  family: ModelFamily,
  numLayers: number,
): ExpertFacts | undefined {
  if (family !== 'qwen3_moe' && family !== 'qwen2_moe' && family !== 'mixtral') return undefined;
  const otherwise = defaults[family];
  const count = readCount(reader, otherwise.count);
  const perToken = readNumber(reader, 'num_experts_per_tok', { ...countRule, otherwise: otherwise.perToken });
  if (perToken > count) {
    const message = `num_experts_per_tok is ${perToken}; expected at most the number of experts, ${count}.`;
    refuse(reader, 'num_experts_per_tok', 'out-of-range', message);
  }
  const layers = Number.isInteger(numLayers) ? numLayers : 0;
  if (family === 'mixtral') {
    // Every layer has experts, each as wide as intermediate_size says; softmax over the chosen ones alone is the same
    // as softmax over all of them, divided by the sum of the chosen.
    const width = readNumber(reader, 'intermediate_size', { ...widthRule, otherwise: otherwise.width });
    const all = new Array<boolean>(layers).fill(true);
    return {
      count,
      perToken,
      width,
      isNormalised: true,
      layers: all,
      sharedWidth: 0,
      naming: 'block_sparse_moe',
    };
  }
  const shared = { ...widthRule, otherwise: 5632 };
  return {
    count,
    perToken,
    width: readNumber(reader, 'moe_intermediate_size', { ...widthRule, otherwise: otherwise.width }),
    isNormalised: readBoolean(reader, 'norm_topk_prob', false),
    layers: readExpertLayers(reader, layers),
    sharedWidth: family === 'qwen2_moe' ? readNumber(reader, 'shared_expert_intermediate_size', shared) : 0,
    naming: 'mlp',
  };
}

/** transformers 5 names the same number num_local_experts in some classes; both, where both are there, must agree. */
function readCount(reader: ConfigReader, otherwise: number): number {
  const isNamedTwice = !isAbsent(reader, 'num_experts') && !isAbsent(reader, 'num_local_experts');
  const key = isAbsent(reader, 'num_local_experts') ? 'num_experts' : 'num_local_experts';
  if (isNamedTwice && ownValue(reader, 'num_experts') !== ownValue(reader, 'num_local_experts'))
    refuse(reader, 'num_experts', 'contradiction', 'num_experts contradicts num_local_experts.');
  return readNumber(reader, key, { ...countRule, otherwise });
}

/** Every `decoder_sparse_step`-th layer has experts, those of `mlp_only_layers` excepted. */
function readExpertLayers(reader: ConfigReader, layers: number): boolean[] {
  const step = readNumber(reader, 'decoder_sparse_step', { ...countRule, otherwise: 1 });
  const dense = ownValue(reader, 'mlp_only_layers') ?? [];
  const isLayer = (value: unknown) => typeof value === 'number' && Number.isInteger(value) && value >= 0;
  if (!Array.isArray(dense) || !dense.every(isLayer)) {
    const message = `mlp_only_layers is ${show(dense)}; expected a list of layer numbers, from 0 on.`;
    refuse(reader, 'mlp_only_layers', 'wrong-type', message);
    return [];
  }
  const isExpert = Array.from(
    { length: layers },
    (_, layer) => !dense.includes(layer) && (layer + 1) % step === 0,
  );
  if (layers > 0 && !isExpert.includes(true) && !Number.isNaN(step)) {
    const message =
      'decoder_sparse_step and mlp_only_layers leave no layer with experts; that is not implemented.';
    refuse(reader, 'mlp_only_layers', 'not-implemented', message);
  }
  return isExpert;
}
