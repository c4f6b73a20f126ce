import { bytesOf, kvBytesRead, meanContext, productsPerWeight } from '../model/arithmetic.ts';
import type { Constraints } from '../model/constraints.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { countParameters } from '../model/parameter-count.ts';
import type { Arithmetic, DeviceRates, Plan } from '../model/plan.ts';

type Bounds = Omit<Plan['limit'], 'unreachable'>;

export interface DeviceLimits {
  readonly rates: DeviceRates;
  /** Of a GPU that is named, else 0. */
  readonly l2Bytes: number;
}

/** What is read again each step must be this many times the L2 cache before memory surely bounds it. */
const beyondCache = 4;

/** Seconds at least for work of `bytes` and `flops`; null where neither rate is known. */
function leastSeconds(bytes: number, flops: number, device: DeviceRates): number | null {
  const times = [
    device.bytesPerSecond === null ? null : bytes / device.bytesPerSecond,
    device.flopsPerSecond === null ? null : flops / device.flopsPerSecond,
  ].filter((time) => time !== null);
  return times.length === 0 ? null : Math.max(...times);
}

/**
 * What no engine of these numerics can beat on this device (research §3.5): each step reads the weights once for all
 * sequences, and the keys and values of each sequence, and writes one new row of them. On a GPU a product with a
 * weight costs several of its bf16 products; attention is counted once, as nothing there is faster.
 */
export function boundSpeed(
  facts: ModelFacts,
  constraints: Constraints,
  arithmetic: Arithmetic,
  { rates, l2Bytes }: DeviceLimits,
): Bounds {
  const { workload, numerics } = constraints;
  const sequences = workload.concurrency;
  const kvRead = kvBytesRead(facts, numerics.kv_cache, Math.round(meanContext(workload)));
  const bytesPerStep = arithmetic.weightBytesPerStep + sequences * (kvRead + arithmetic.kvBytesPerToken);
  const isCached = bytesPerStep < beyondCache * l2Bytes;
  const more = productsPerWeight(constraints) - 1;
  const { matmul, head } = countParameters(facts);
  const flopsPerToken = arithmetic.flopsPerDecodedToken + more * 2 * matmul;
  const step = isCached ? null : leastSeconds(bytesPerStep, sequences * flopsPerToken, rates);
  const promptKv = bytesOf(
    2 * facts.numLayers * facts.numKvHeads * facts.headDim * workload.prompt_tokens,
    numerics.kv_cache,
  );
  const prefillFlops = arithmetic.prefillFlops + more * 2 * ((matmul - head) * workload.prompt_tokens + head);
  const memory = isCached ? { ...rates, bytesPerSecond: null } : rates;
  const prefill = leastSeconds(arithmetic.weightBytesPerStep + promptKv, prefillFlops, memory);
  return {
    device: rates,
    bytesPerStep,
    isCached,
    decodeTokensPerSecond: step === null ? null : sequences / step,
    prefillTokensPerSecond: prefill === null ? null : workload.prompt_tokens / prefill,
    ttftMs: prefill === null ? null : prefill * 1000,
  };
}
