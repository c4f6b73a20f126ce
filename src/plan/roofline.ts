import { bytesOf, kvBytesRead, meanContext } from '../model/arithmetic.ts';
import type { Constraints } from '../model/constraints.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import type { Arithmetic, DeviceRates, Plan } from '../model/plan.ts';

type Bounds = Omit<Plan['limit'], 'unreachable'>;

/** Seconds at least for work of `bytes` and `flops`; null where neither rate is known. */
function leastSeconds(bytes: number, flops: number, device: DeviceRates): number | null {
  const times = [
    device.bytesPerSecond === null ? null : bytes / device.bytesPerSecond,
    device.flopsPerSecond === null ? null : flops / device.flopsPerSecond,
  ].filter((time) => time !== null);
  return times.length === 0 ? null : Math.max(...times);
}

/**
 * What no engine on this device can beat (research §3.5): each step reads the weights once for all sequences, and
 * the keys and values of each sequence, and writes one new row of them.
 */
export function boundSpeed(
  facts: ModelFacts,
  constraints: Constraints,
  arithmetic: Arithmetic,
  device: DeviceRates,
): Bounds {
  const { workload, numerics } = constraints;
  const sequences = workload.concurrency;
  const kvRead = kvBytesRead(facts, numerics.kv_cache, Math.round(meanContext(workload)));
  const bytesPerStep = arithmetic.weightBytesPerStep + sequences * (kvRead + arithmetic.kvBytesPerToken);
  const step = leastSeconds(bytesPerStep, sequences * arithmetic.flopsPerDecodedToken, device);
  const promptKv = bytesOf(
    2 * facts.numLayers * facts.numKvHeads * facts.headDim * workload.prompt_tokens,
    numerics.kv_cache,
  );
  const prefill = leastSeconds(arithmetic.weightBytesPerStep + promptKv, arithmetic.prefillFlops, device);
  return {
    device,
    bytesPerStep,
    decodeTokensPerSecond: step === null ? null : sequences / step,
    prefillTokensPerSecond: prefill === null ? null : workload.prompt_tokens / prefill,
    ttftMs: prefill === null ? null : prefill * 1000,
  };
}
