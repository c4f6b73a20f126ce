import { z } from 'zod';

/** What exists now and what is known but reserved: a reserved value is understood and answered "not covered yet". */
export const platforms = { covered: ['cpu-x86_64', 'cuda'], reserved: ['cpu-aarch64', 'hip'] } as const;
export const weightFormats = {
  covered: ['f32', 'bf16', 'f16'],
  reserved: ['q8_0', 'q4_0', 'fp8'],
  /** Each platform covers its own part of them. */
  on: { 'cpu-x86_64': ['f32', 'bf16'], cuda: ['bf16', 'f16'] },
} as const;

/** Formats with realizations on `platform`; without one, on any. */
export function coveredWeightFormats(platform: string | undefined): readonly string[] {
  const on: Readonly<Record<string, readonly string[]>> = weightFormats.on;
  return on[platform ?? ''] ?? weightFormats.covered;
}

const count = (max: number) => z.int().min(1).max(max);

/**
 * The constraint file after defaults: `apiVersion: metainfer/v1`. Memory is bytes; goals are comparisons.
 * Field-level messages live in src/constraints; this schema is the meaning and the source of the JSON Schema.
 */
export const Constraints = z.strictObject({
  apiVersion: z.literal('metainfer/v1'),
  name: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/),
  model: z.union([
    z.strictObject({ id: z.string().min(1).max(200) }),
    z.strictObject({ config: z.record(z.string(), z.unknown()) }),
    z.strictObject({ path: z.string().min(1).max(4096) }),
  ]),
  weights: z.discriminatedUnion('source', [
    z.strictObject({ source: z.literal('synthetic'), seed: z.int().min(0).max(4_294_967_295) }),
    z.strictObject({ source: z.literal('checkpoint') }),
  ]),
  hardware: z.strictObject({
    platform: z.enum([...platforms.covered, ...platforms.reserved]),
    arch: z.string().default('avx2'),
    /** A device of the platform's table (knowledge/platforms), whose stated rates bound the plan. */
    device: z.string().optional(),
    threads: count(1024),
    devices: count(64).default(1),
    memory: z.int().min(1),
  }),
  numerics: z.strictObject({
    weights: z.enum([...weightFormats.covered, ...weightFormats.reserved]),
    kv_cache: z.enum(['f32', 'bf16', 'f16', 'q8_0']).default('f32'),
    activations: z.enum(['f32', 'bf16', 'f16']).default('f32'),
  }),
  parallelism: z.strictObject({ tensor: count(64).default(1) }),
  serving: z.strictObject({
    interface: z.enum(['cli', 'openai']).default('cli'),
    max_context: count(16_777_216),
    max_batch: count(4096).default(1),
    kv: z.enum(['contiguous', 'paged']).default('contiguous'),
    block_size: count(4096).optional(),
  }),
  workload: z.strictObject({
    prompt_tokens: count(16_777_216),
    output_tokens: count(16_777_216),
    concurrency: count(4096).default(1),
  }),
  goals: z.strictObject({
    optimize: z.enum(['latency', 'throughput', 'memory']).default('latency'),
    require: z.array(
      z.strictObject({
        metric: z.string(),
        comparison: z.enum(['<=', '>=', '<', '>']),
        value: z.number(),
        /** Unit of `value` after normalisation: ms, tokens/s, bytes, or `x` of a baseline. */
        unit: z.string(),
        baseline: z.string().optional(),
        /** As the person wrote it, for comments and reports. */
        written: z.string(),
      }),
    ),
    fidelity: z.strictObject({ mean_kld: z.number().positive(), top1_agreement: z.number().min(0).max(1) }),
  }),
  generation: z.strictObject({
    mode: z.enum(['knowledge-first', 'zero-reference', 'source-reference']).default('knowledge-first'),
    budget: z.strictObject({ tokens: z.int().min(0).optional(), usd: z.number().min(0).optional() }),
    /** Only in source-reference mode, and only on the command line: files that every implementer also sees, by path. */
    source_files: z.array(z.string().min(1).max(4096)).max(64).optional(),
  }),
});
export type Constraints = z.infer<typeof Constraints>;
