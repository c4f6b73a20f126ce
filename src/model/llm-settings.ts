import { z } from 'zod';
import { agentRoles } from './language-model.ts';

const tokens = z.int().min(0).max(1_000_000_000);
const usd = z.number().min(0).max(1_000_000);

const sampling = {
  temperature: z.number().min(0).max(2).optional(),
  seed: z.int().min(0).max(4_294_967_295).optional(),
  /** Left out of the request where absent; endpoints that don't know it refuse it. */
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high']).optional(),
  max_output_tokens: z.int().min(256).max(1_000_000).optional(),
};

const Role = z.strictObject({ model: z.string().min(1).max(200).optional(), ...sampling });

/** Settings of a language model, from a YAML file or from the environment; no secret stands in it. */
export const LlmSettings = z.strictObject({
  /** Up to and including `/v1`. */
  base_url: z.string().max(2000),
  /** Name of the environment variable that holds the key. */
  api_key_env: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/)
    .default('METAINFER_LLM_API_KEY'),
  model: z.string().min(1).max(200),
  ...sampling,
  max_output_tokens: z.int().min(256).max(1_000_000).default(16_384),
  roles: z.partialRecord(z.enum(agentRoles), Role).default({}),
  /** Prompt and answer together. */
  context_tokens: z.int().min(2048).max(10_000_000).default(65_536),
  concurrency: z.int().min(1).max(64).default(2),
  timeout_seconds: z.int().min(1).max(7200).default(900),
  /** Longest silence within a stream. */
  stall_seconds: z.int().min(1).max(7200).default(120),
  structured_output: z.enum(['auto', 'json_schema', 'fenced']).default('auto'),
  /** Model → USD per million tokens. */
  prices: z
    .record(z.string(), z.strictObject({ input: usd, cached_input: usd.optional(), output: usd }))
    .default({}),
  limits: z
    .strictObject({
      /** Default: four fifths of the hard limit. */
      soft_tokens: tokens.optional(),
      hard_tokens: tokens.default(2_000_000),
      soft_usd: usd.optional(),
      hard_usd: usd.optional(),
      /** For one repository, through GitHub. */
      tokens_per_day: tokens.default(10_000_000),
      attempts_per_contract: z.int().min(1).max(20).default(3),
      rounds: z.int().min(1).max(10).default(2),
    })
    .prefault({}),
  review: z.boolean().default(true),
  /** Proposals for a faster realization after a pass. */
  optimizations: z.int().min(0).max(50).default(0),
  /** False for a stand-in: figures about the model are then left out of every report. */
  real_model: z.boolean().default(true),
});
export type LlmSettings = z.infer<typeof LlmSettings>;
