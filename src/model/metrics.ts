/** What a goal can be about, and in which unit: names of the field (`vllm bench serve`, `llama-bench`). */
export type MetricUnit = 'ms' | 'tokens/s' | 'requests/s' | 'bytes';

export interface Metric {
  readonly unit: MetricUnit;
  /** Which way is good; a goal bounds the other way. */
  readonly better: 'lower' | 'higher';
  readonly meaning: string;
}

const latencies = {
  ttft: 'time to first token',
  tpot: 'time per output token after the first, per request',
  itl: 'inter-token latency: gap between two tokens, pooled over all requests',
  e2el: 'end-to-end latency of a request',
} as const;
const statistics = {
  mean: 'mean',
  p50: 'median',
  p90: '90th percentile',
  p95: '95th percentile',
  p99: '99th percentile',
} as const;
type LatencyMetric = `${keyof typeof latencies}_ms_${keyof typeof statistics}`;

const latencyMetrics = Object.fromEntries(
  Object.entries(latencies).flatMap(([key, meaning]) =>
    Object.entries(statistics).map(([statistic, word]) => [
      `${key}_ms_${statistic}`,
      { unit: 'ms', better: 'lower', meaning: `${meaning}, ${word}` },
    ]),
  ),
) as Record<LatencyMetric, Metric>;

export const metrics = {
  ...latencyMetrics,
  decode_tokens_per_second: {
    unit: 'tokens/s',
    better: 'higher',
    meaning: 'tokens decoded per second, as tg of llama-bench',
  },
  prefill_tokens_per_second: {
    unit: 'tokens/s',
    better: 'higher',
    meaning: 'prompt tokens per second, as pp of llama-bench',
  },
  request_throughput: { unit: 'requests/s', better: 'higher', meaning: 'completed requests per second' },
  output_throughput: {
    unit: 'tokens/s',
    better: 'higher',
    meaning: 'output tokens of all requests per second',
  },
  total_token_throughput: {
    unit: 'tokens/s',
    better: 'higher',
    meaning: 'prompt and output tokens of all requests per second',
  },
  peak_memory: { unit: 'bytes', better: 'lower', meaning: 'largest resident memory of the engine process' },
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof metrics;
export const metricNames = Object.keys(metrics) as readonly MetricName[];

/** Engines that a relative goal may name. */
export const baselines = ['llama.cpp'] as const;
