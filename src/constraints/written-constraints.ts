import { z } from 'zod';
import { platforms, weightFormats } from '../model/constraints.ts';
import { type MetricName, metricNames, metrics } from '../model/metrics.ts';
import { goalForms } from './goal.ts';
import { sizeForms, sizePattern } from './memory-size.ts';

/*
 * The constraint file as a person writes it, before defaults. `error` of each field is the "expected" half of a
 * message; src/constraints/describe-issue.ts puts place and finding before it. The JSON Schema is made from this.
 */
const integer = (minimum: number, maximum: number) =>
  z
    .int({ error: `a whole number from ${minimum} to ${maximum}` })
    .min(minimum)
    .max(maximum);
const text = (expected: string, maximum: number) => z.string({ error: expected }).min(1).max(maximum);
const choice = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: values.length === 1 ? values[0]! : `one of ${values.join(', ')}` });

const nameForm =
  'a name of 1 to 64 lower-case letters, digits and dashes that begins and ends with a letter or digit';
const archForm = 'an instruction set name such as avx2, or a GPU architecture such as sm_90';
const deviceForm = 'the id of a device such as h200';

const Model = z
  .strictObject(
    {
      id: text('a known model id such as Qwen/Qwen3-0.6B', 200)
        .optional()
        .describe('An id listed in knowledge/models.'),
      config: z
        .record(z.string(), z.unknown(), { error: 'the content of a Hugging Face config.json as a mapping' })
        .optional()
        .describe('The content of a Hugging Face config.json.'),
      path: text('the path of a checkpoint folder', 4096)
        .optional()
        .describe('A checkpoint folder, relative to this file. On the command line only.'),
    },
    { error: 'a mapping with one of id, config, path' },
  )
  .meta({ description: 'Exactly one of id, config and path.', minProperties: 1, maxProperties: 1 });

const Weights = z
  .strictObject(
    {
      source: choice(['synthetic', 'checkpoint']).describe(
        "synthetic: seeded random weights at real shapes. checkpoint: the model's own.",
      ),
      seed: integer(0, 4_294_967_295).optional().describe('Needed with synthetic.'),
    },
    { error: 'a mapping with source, and seed where source is synthetic' },
  )
  .meta({
    description: 'Where the weights come from.',
    if: { properties: { source: { const: 'synthetic' } } },
    // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
    then: { required: ['seed'] },
  });

const Hardware = z
  .strictObject(
    {
      platform: choice([...platforms.covered, ...platforms.reserved]).describe(
        `Covered: ${platforms.covered.join(', ')}.`,
      ),
      arch: z
        .string({ error: archForm })
        .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/)
        .optional()
        .describe(
          'Instruction set. For cpu-x86_64: x86-64 (any machine), avx2 (default) or avx512. For cuda: sm_80 (A100, L4, RTX 4090) or sm_90 (H100, H200); default that of the device, else sm_90.',
        ),
      device: z
        .string({ error: deviceForm })
        .regex(/^[A-Za-z0-9][A-Za-z0-9_. -]{0,63}$/)
        .optional()
        .describe(
          'For cuda: a device of the table in knowledge/platforms/cuda.yaml, such as h200; its stated rates bound the plan. Any device of the arch runs the engine.',
        ),
      threads: integer(1, 1024)
        .optional()
        .describe(
          'Threads of the engine, one per physical core at best; needed on a processor. For cuda: threads of the host, default 4.',
        ),
      devices: integer(1, 64).optional().describe('Devices, default and covered: 1.'),
      memory: z
        .string({ error: sizeForms })
        .max(64)
        // A pattern for editors only: readSize says better what is wrong.
        .meta({
          description:
            'Memory that the engine may use on each device, with a unit: 8GiB, 8 GB. For cuda: memory of the GPU.',
          pattern: sizePattern.source,
        }),
    },
    { error: 'a mapping with platform, threads, memory' },
  )
  .meta({
    if: { properties: { platform: { not: { const: 'cuda' } } }, required: ['platform'] },
    // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
    then: { required: ['threads'] },
  });

const Numerics = z.strictObject(
  {
    weights: choice([...weightFormats.covered, ...weightFormats.reserved]).describe(
      `Covered: ${Object.entries(weightFormats.on)
        .map(([platform, formats]) => `${formats.join(', ')} on ${platform}`)
        .join('; ')}.`,
    ),
    kv_cache: choice(['f32', 'bf16', 'f16', 'q8_0']).optional().describe('Default and covered: f32.'),
    activations: choice(['f32', 'bf16', 'f16']).optional().describe('Default and covered: f32.'),
  },
  { error: 'a mapping with weights' },
);

const Parallelism = z.strictObject(
  { tensor: integer(1, 64).optional().describe('Ranks that share each layer; default and covered: 1.') },
  { error: 'a mapping with tensor' },
);

const Serving = z.strictObject(
  {
    interface: choice(['cli', 'openai']).optional().describe('Default and covered: cli.'),
    max_context: integer(1, 16_777_216).describe('Longest sequence in tokens, prompt and output together.'),
    max_batch: integer(1, 4096).optional().describe('Sequences side by side, default 1.'),
    kv: choice(['contiguous', 'paged']).optional().describe('Default and covered: contiguous.'),
    block_size: integer(1, 4096).optional().describe('Tokens per block; with kv: paged only.'),
  },
  { error: 'a mapping with max_context' },
);

const Workload = z.strictObject(
  {
    prompt_tokens: integer(1, 16_777_216).describe('Tokens of a typical prompt.'),
    output_tokens: integer(1, 16_777_216).describe('Tokens of a typical answer.'),
    concurrency: integer(1, 4096).optional().describe('Requests at the same time, default 1.'),
  },
  { error: 'a mapping with prompt_tokens and output_tokens' },
);

const requireFields = Object.fromEntries(
  metricNames.map((name) => [
    name,
    z
      .string({ error: goalForms(name) })
      .min(1)
      .max(100)
      .optional()
      .describe(`${metrics[name].meaning} in ${metrics[name].unit}: ${goalForms(name)}.`),
  ]),
) as Record<MetricName, z.ZodOptional<z.ZodString>>;

const goalsForm = 'a mapping from metrics to bounds, such as ttft_ms_p50: "<= 900"';
const Goals = z.strictObject(
  {
    optimize: choice(['latency', 'throughput', 'memory'])
      .optional()
      .describe('What to prefer, default latency.'),
    require: z
      .strictObject(requireFields, { error: goalsForm })
      .optional()
      .describe('Bounds that the verdict decides on.'),
    fidelity: z
      .strictObject(
        {
          mean_kld: z
            .number({ error: 'a number above 0, such as 1e-6' })
            .gt(0)
            .max(100)
            .optional()
            .describe('Mean KL divergence from the oracle, at most.'),
          top1_agreement: z
            .number({ error: 'a share from 0 to 1, such as 0.99' })
            .min(0)
            .max(1)
            .optional()
            .describe('Share of positions with the same most likely token, at least.'),
        },
        { error: 'a mapping with mean_kld and top1_agreement' },
      )
      .optional()
      .describe(
        'Closeness to the oracle: mean KL divergence at most, share of equal most likely tokens at least.',
      ),
  },
  { error: 'a mapping with optimize, require, fidelity' },
);

const sourceFilesForm = 'a list of 1 to 64 paths of source files';
const Generation = z
  .strictObject(
    {
      mode: choice(['knowledge-first', 'zero-reference', 'source-reference'])
        .optional()
        .describe('Default: knowledge-first.'),
      budget: z
        .strictObject(
          {
            tokens: integer(0, 1_000_000_000_000).optional().describe('Model tokens at most.'),
            usd: z
              .number({ error: 'an amount of US dollars, 0 or more' })
              .min(0)
              .max(1_000_000)
              .optional()
              .describe('US dollars at most.'),
          },
          { error: 'a mapping with tokens and usd' },
        )
        .optional(),
      source_files: z
        .array(text('the path of a source file', 4096), { error: sourceFilesForm })
        .min(1)
        .max(64)
        .optional()
        .describe(
          'Source files that agents see beside each contract, by path relative to this file. With mode: source-reference only, on the command line only.',
        ),
    },
    { error: 'a mapping with mode and budget' },
  )
  .meta({
    if: { properties: { mode: { const: 'source-reference' } }, required: ['mode'] },
    // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
    then: { required: ['source_files'] },
    else: { not: { required: ['source_files'] } },
  });

export const WrittenConstraints = z.strictObject(
  {
    apiVersion: z.literal('metainfer/v1', { error: 'metainfer/v1' }),
    name: z
      .string({ error: nameForm })
      .regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/)
      .describe('Names the engine, its folder and its branch.'),
    model: Model,
    weights: Weights,
    hardware: Hardware,
    numerics: Numerics,
    parallelism: Parallelism.optional(),
    serving: Serving,
    workload: Workload,
    goals: Goals.optional(),
    generation: Generation.optional(),
  },
  { error: 'a mapping that begins with apiVersion: metainfer/v1' },
);
export type WrittenConstraints = z.infer<typeof WrittenConstraints>;

/** knowledge/constraints.schema.json, byte for byte. */
export function constraintsJsonSchema(): string {
  const schema = z.toJSONSchema(WrittenConstraints, { target: 'draft-2020-12', io: 'input' });
  const { $schema, ...rest } = schema;
  const head = {
    $schema,
    title: 'metainfer constraint file',
    description: 'What a person asks an engine for; apiVersion metainfer/v1.',
  };
  return `${JSON.stringify({ ...head, ...rest }, null, 2)}\n`;
}
