import type { ServingTest, SpeedTest } from '../model/benchmark.ts';

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Sample standard deviation (n - 1), as llama-bench prints. */
export function standardDeviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1));
}

/** Linear between the two nearest ranks, as numpy.percentile, which vLLM uses. `share` is in [0, 1]. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? 0;
  const high = sorted[Math.ceil(at)] ?? low;
  return low + (high - low) * (at - Math.floor(at));
}

/** Standard error of the mean over the mean; infinite below two values, so that nothing stops too early. */
export function relativeError(values: readonly number[]): number {
  if (values.length < 2) return Number.POSITIVE_INFINITY;
  return standardDeviation(values) / Math.sqrt(values.length) / mean(values);
}

export function summariseSpeed(
  shape: { readonly n_prompt: number; readonly n_gen: number; readonly n_depth: number },
  seconds: readonly number[],
): SpeedTest {
  const tokens = shape.n_prompt + shape.n_gen;
  const nanoseconds = seconds.map((value) => value * 1e9);
  const rates = seconds.map((value) => tokens / value);
  const depth = shape.n_depth === 0 ? '' : ` @ d${shape.n_depth}`;
  const error = relativeError(rates);
  return {
    test: `${shape.n_prompt > 0 ? `pp${shape.n_prompt}` : `tg${shape.n_gen}`}${depth}`,
    ...shape,
    avg_ns: mean(nanoseconds),
    stddev_ns: standardDeviation(nanoseconds),
    min_ns: Math.min(...nanoseconds),
    median_ns: percentile(nanoseconds, 0.5),
    avg_ts: mean(rates),
    stddev_ts: standardDeviation(rates),
    median_ts: percentile(rates, 0.5),
    relative_error: Number.isFinite(error) ? error : 1,
    samples_ns: nanoseconds,
    samples_ts: rates,
  };
}

/** One request of the workload, times in seconds from its start. */
export interface RequestTimes {
  readonly inputTokens: number;
  /** When each output token arrived; the first is TTFT, the last the end of the request. */
  readonly tokenTimes: readonly number[];
}

function latencyFields(name: string, seconds: readonly number[]): Record<string, number | null> {
  const milliseconds = seconds.map((value) => value * 1000);
  const has = milliseconds.length > 0;
  const at = (share: number) => (has ? percentile(milliseconds, share) : null);
  const centre = mean(milliseconds);
  // vLLM prints the population standard deviation.
  const deviation = Math.sqrt(mean(milliseconds.map((value) => (value - centre) ** 2)));
  return {
    [`mean_${name}_ms`]: has ? centre : null,
    [`median_${name}_ms`]: at(0.5),
    [`std_${name}_ms`]: has ? deviation : null,
    [`p50_${name}_ms`]: at(0.5),
    [`p90_${name}_ms`]: at(0.9),
    [`p95_${name}_ms`]: at(0.95),
    [`p99_${name}_ms`]: at(0.99),
  };
}

/** Definitions of `vllm bench serve`: TPOT = (E2EL - TTFT)/(n - 1) per request, ITL = gaps pooled over all requests. */
export function summariseServing(
  requests: readonly RequestTimes[],
  duration: number,
  concurrency: number,
): ServingTest {
  const ttfts = requests.map(({ tokenTimes }) => tokenTimes[0]!);
  const latencies = requests.map(({ tokenTimes }) => tokenTimes.at(-1)!);
  const itls = requests.map(({ tokenTimes }) => tokenTimes.slice(1).map((time, i) => time - tokenTimes[i]!));
  const long = requests.filter(({ tokenTimes }) => tokenTimes.length > 1);
  const tpots = long.map(({ tokenTimes: times }) => (times.at(-1)! - times[0]!) / (times.length - 1));
  const input = requests.reduce((sum, request) => sum + request.inputTokens, 0);
  const output = requests.reduce((sum, request) => sum + request.tokenTimes.length, 0);
  const fields = {
    ...latencyFields('ttft', ttfts),
    ...latencyFields('tpot', tpots),
    ...latencyFields('itl', itls.flat()),
    ...latencyFields('e2el', latencies),
  };
  return {
    duration,
    completed: requests.length,
    failed: 0,
    total_input_tokens: input,
    total_output_tokens: output,
    request_throughput: requests.length / duration,
    output_throughput: output / duration,
    total_token_throughput: (input + output) / duration,
    max_concurrent_requests: concurrency,
    ...fields,
    input_lens: requests.map((request) => request.inputTokens),
    output_lens: requests.map(({ tokenTimes }) => tokenTimes.length),
    ttfts,
    itls,
    latencies,
  } as ServingTest;
}

/** 32-bit xorshift: the interval must be the same each time the same samples are read. */
function* uniforms(seed: number): Generator<number> {
  for (let state = seed | 1; ; ) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    yield (state >>> 0) / 4_294_967_296;
  }
}

/**
 * Ratio of the means of two paired series, with the 95 % percentile-bootstrap interval over pairs. Pairs were measured
 * next to each other, so that what slows the machine down slows both.
 */
export function pairedRatio(
  numerators: readonly number[],
  denominators: readonly number[],
): { ratio: number; low: number | null; high: number | null } {
  const pairs = Math.min(numerators.length, denominators.length);
  const ratio = mean(numerators.slice(0, pairs)) / mean(denominators.slice(0, pairs));
  if (pairs < 3) return { ratio, low: null, high: null };
  const random = uniforms(0x2545f491);
  const resampled = Array.from({ length: 2000 }, () => {
    let above = 0;
    let below = 0;
    for (let i = 0; i < pairs; i++) {
      const pick = Math.floor((random.next().value as number) * pairs);
      above += numerators[pick]!;
      below += denominators[pick]!;
    }
    return above / below;
  });
  return { ratio, low: percentile(resampled, 0.025), high: percentile(resampled, 0.975) };
}
