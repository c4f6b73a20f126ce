import { z } from 'zod';

const figure = z.number().min(0);

/** One test as `llama-bench -o json` reports it: pp<n> (prompt processing) or tg<n> (text generation). Times in ns. */
export const SpeedTest = z.strictObject({
  test: z.string(),
  n_prompt: z.int().min(0),
  n_gen: z.int().min(0),
  n_depth: z.int().min(0),
  avg_ns: figure,
  stddev_ns: figure,
  min_ns: figure,
  median_ns: figure,
  /** Tokens per second. */
  avg_ts: figure,
  stddev_ts: figure,
  median_ts: figure,
  /** Standard error of the mean over the mean, of samples_ts. */
  relative_error: figure,
  samples_ns: z.array(figure),
  samples_ts: z.array(figure),
});
export type SpeedTest = z.infer<typeof SpeedTest>;

const latencyNames = ['ttft', 'tpot', 'itl', 'e2el'] as const;
const statisticNames = ['mean', 'median', 'std', 'p50', 'p90', 'p95', 'p99'] as const;
type LatencyField = `${(typeof statisticNames)[number]}_${(typeof latencyNames)[number]}_ms`;
const latencyFields = Object.fromEntries(
  latencyNames.flatMap((latency) =>
    statisticNames.map((statistic) => [`${statistic}_${latency}_ms`, figure.nullable()]),
  ),
) as Record<LatencyField, z.ZodNullable<z.ZodNumber>>;

/** The workload as `vllm bench serve` reports it; tpot and itl are null where one token is asked for. Lists in seconds. */
export const ServingTest = z.strictObject({
  duration: figure,
  completed: z.int().min(0),
  failed: z.int().min(0),
  total_input_tokens: z.int().min(0),
  total_output_tokens: z.int().min(0),
  request_throughput: figure,
  output_throughput: figure,
  total_token_throughput: figure,
  max_concurrent_requests: z.int().min(1),
  ...latencyFields,
  input_lens: z.array(z.int()),
  output_lens: z.array(z.int()),
  ttfts: z.array(figure),
  itls: z.array(z.array(figure)),
  latencies: z.array(figure),
});
export type ServingTest = z.infer<typeof ServingTest>;

/** What one engine did and how much of the machine that is. */
export const EngineBenchmark = z.strictObject({
  name: z.string(),
  threads: z.int().min(1),
  prefill: SpeedTest,
  decode: SpeedTest,
  serving: ServingTest,
  /** Resident memory of the process; of an engine on a GPU the device's, all processes together. */
  peak_memory_bytes: figure,
  /** Weights and KV bytes that one decoded token needs at least, in the decode test. */
  bytes_per_token: figure,
  prefill_flops: figure,
  /** Of the mean of the rates measured before and after, for this working-set size; null where none was measured. */
  pct_of_measured_bw: figure.nullable(),
  pct_of_measured_flops: figure.nullable(),
  /** Timed results that differ from the untimed ones: empty, or the figures mean nothing. */
  integrity: z.array(z.string()),
});
export type EngineBenchmark = z.infer<typeof EngineBenchmark>;

/** Rates of the machine measured by the harness's own program, on the threads and for the instruction set of the engine. */
export const MachineRates = z.strictObject({
  read: z.array(
    z.strictObject({
      working_set_bytes: figure,
      best_bytes_per_second: figure,
      mean_bytes_per_second: figure,
    }),
  ),
  /** Of a GPU: products of bf16 with f32 sums in its tensor cores. */
  best_flops_per_second: figure,
  mean_flops_per_second: figure,
  /** Of a GPU: bytes read and written together. */
  copy_bytes_per_second: figure.optional(),
});
export type MachineRates = z.infer<typeof MachineRates>;

export const PhysicsCheck = z.strictObject({
  what: z.enum(['decode', 'prefill']),
  measured_tokens_per_second: figure,
  /** What the measured rate allows, before the margin. */
  limit_tokens_per_second: figure,
  margin: z.number().min(1),
  bound: z.enum(['bandwidth', 'flops']),
  working_set_bytes: figure.nullable(),
  rejected: z.boolean(),
});
export type PhysicsCheck = z.infer<typeof PhysicsCheck>;

/** A GPU right after a timed repeat, as nvidia-smi names it; null for what the device does not tell. */
export const GpuCondition = z.strictObject({
  sm_mhz: figure.nullable(),
  memory_mhz: figure.nullable(),
  celsius: figure.nullable(),
  watts: figure.nullable(),
  /** Of all processes together. */
  memory_used_bytes: figure.nullable(),
  /** Bits of nvml's clocks event reasons; what is beyond the first two slows down unasked. */
  throttle_reasons: z.int().min(0).nullable(),
});
export type GpuCondition = z.infer<typeof GpuCondition>;

/** Shares of the machine's CPU time while the timed runs ran. */
export const Conditions = z.strictObject({
  cpu: z.string(),
  cores: z.int().min(1),
  loadavg_before: figure,
  loadavg_after: figure,
  steal_share: figure,
  /** Used by processes other than the engines and the harness. */
  foreign_cpu_share: figure,
  /** Of an engine on a GPU: one entry per timed run of it; absent where none ran there or nothing told. */
  gpu: z.array(GpuCondition).max(1000).optional(),
});
export type Conditions = z.infer<typeof Conditions>;

const Comparison = z.strictObject({
  metric: z.enum(['prefill_tokens_per_second', 'decode_tokens_per_second']),
  /** Engine over baseline, of the mean tokens per second. */
  ratio: figure,
  /** Of the median tokens per second of all runs: a single run that was held up doesn't move it. */
  median_ratio: figure,
  /** 95 % bootstrap interval over rounds; null below three rounds. */
  low: figure.nullable(),
  high: figure.nullable(),
  rounds: z.int().min(1),
});
export type Comparison = z.infer<typeof Comparison>;

/** Everything that `bench` measured. A baseline that could not run is null with the reason. */
export const Benchmark = z.strictObject({
  workload: z.strictObject({
    prompt_tokens: z.int().min(1),
    output_tokens: z.int().min(1),
    concurrency: z.int().min(1),
  }),
  /** Order of the runs within a round. */
  mode: z.enum(['interleaved ABBA', 'alone']),
  rounds: z.int().min(1),
  stopped_because: z.enum(['spread below 1 %', 'time limit', 'run limit']),
  engine: EngineBenchmark,
  baseline: EngineBenchmark.nullable(),
  baseline_name: z.string().nullable(),
  baseline_absent_because: z.string().nullable(),
  comparison: z.array(Comparison),
  conditions: Conditions,
  rates_before: MachineRates.nullable(),
  rates_after: MachineRates.nullable(),
  physics: z.array(PhysicsCheck),
  /** Why the figures may be worth less than they look; for people. */
  warnings: z.array(z.string()),
});
export type Benchmark = z.infer<typeof Benchmark>;
