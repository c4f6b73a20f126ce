import { nearestName } from '../model/nearest-name.ts';
import { showText } from './problem-list.ts';

/** Words that people use for a field and that edit distance does not find. */
const aliases: Readonly<Record<string, string>> = {
  cores: 'threads',
  cpus: 'threads',
  num_threads: 'threads',
  ram: 'memory',
  vram: 'memory',
  backend: 'platform',
  march: 'arch',
  compute_capability: 'arch',
  sm: 'arch',
  gpu: 'device',
  card: 'device',
  accelerator: 'device',
  gpus: 'devices',
  num_gpus: 'devices',
  host_threads: 'threads',
  dtype: 'weights',
  quantization: 'weights',
  cache: 'kv_cache',
  kv_dtype: 'kv_cache',
  tp: 'tensor',
  tensor_parallel_size: 'tensor',
  context: 'max_context',
  context_length: 'max_context',
  max_model_len: 'max_context',
  n_ctx: 'max_context',
  batch: 'max_batch',
  batch_size: 'max_batch',
  input_tokens: 'prompt_tokens',
  prompt_length: 'prompt_tokens',
  max_tokens: 'output_tokens',
  completion_tokens: 'output_tokens',
  requests: 'concurrency',
  objective: 'optimize',
  requirements: 'require',
  kld: 'mean_kld',
  top1: 'top1_agreement',
  model_id: 'id',
  folder: 'path',
  version: 'apiVersion',
  api: 'interface',
};

/** The same for values, lower case. */
const valueAliases: Readonly<Record<string, string>> = {
  cpu: 'cpu-x86_64',
  x86: 'cpu-x86_64',
  x86_64: 'cpu-x86_64',
  'x86-64': 'cpu-x86_64',
  amd64: 'cpu-x86_64',
  arm64: 'cpu-aarch64',
  aarch64: 'cpu-aarch64',
  gpu: 'cuda',
  nvidia: 'cuda',
  'nvidia-gpu': 'cuda',
  cuda12: 'cuda',
  cuda13: 'cuda',
  ampere: 'cuda',
  ada: 'cuda',
  hopper: 'cuda',
  a100: 'cuda',
  h100: 'cuda',
  h200: 'cuda',
  l4: 'cuda',
  rtx4090: 'cuda',
  sm_80: 'cuda',
  sm_90: 'cuda',
  rocm: 'hip',
  amd: 'hip',
  fp32: 'f32',
  float32: 'f32',
  bfloat16: 'bf16',
  fp16: 'f16',
  float16: 'f16',
  half: 'f16',
  int8: 'q8_0',
  q8: 'q8_0',
  int4: 'q4_0',
  q4: 'q4_0',
  random: 'synthetic',
  speed: 'latency',
};

/** The allowed value that an unknown one was probably meant to be. */
export function suggestAllowed(written: string, allowed: readonly string[]): string | undefined {
  const folded = written.toLowerCase();
  const candidate = Object.hasOwn(valueAliases, folded) ? valueAliases[folded]! : undefined;
  return candidate !== undefined && allowed.includes(candidate) ? candidate : nearestName(written, allowed);
}

/** The word for a metric in the other order, as vLLM prints it: `p99_ttft_ms`, `median_tpot_ms`. */
function metricOf(written: string): string | undefined {
  const parts = /^(mean|median|p\d\d)_(ttft|tpot|itl|e2el)_ms$/.exec(written);
  return parts === null ? undefined : `${parts[2]}_ms_${parts[1] === 'median' ? 'p50' : parts[1]}`;
}

/**
 * What an unknown key was probably meant to be: a key of the same mapping, or one that belongs elsewhere.
 * `elsewhere` maps a key to the dotted path where it belongs.
 */
export function suggestKey(
  written: string,
  allowed: readonly string[],
  elsewhere: ReadonlyMap<string, string>,
): string {
  if (written === '<<') return 'Merge keys are not supported: write the keys out.';
  const folded = written.toLowerCase().replace(/[\s-]/g, '_');
  const candidate = metricOf(folded) ?? (Object.hasOwn(aliases, folded) ? aliases[folded]! : undefined);
  if (candidate !== undefined && allowed.includes(candidate)) return `Did you mean ${candidate}?`;
  const near = nearestName(written, allowed);
  if (near !== undefined) return `Did you mean ${near}?`;
  const home =
    elsewhere.get(candidate ?? written) ?? elsewhere.get(nearestName(written, [...elsewhere.keys()]) ?? '');
  if (home !== undefined) return `Did you mean ${home}?`;
  return `Keys here: ${allowed.slice(0, 40).map(showText).join(', ')}.`;
}
