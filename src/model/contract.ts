import { z } from 'zod';
import { type TargetKey, targetKeys } from './target.ts';

const targetValue = z.union([z.string(), z.number(), z.boolean()]);
const predicate = z.partialRecord(
  z.enum(targetKeys as unknown as [TargetKey, ...TargetKey[]]),
  z.union([targetValue, z.array(targetValue).min(1)]),
);
const tolerance = z.strictObject({ nmse: z.number().min(0), max_abs: z.number().min(0) });
/**
 * What contracts state in a form that a program can compare: two contracts of one engine that give a key different
 * values contradict each other.
 */
export const stateKeys = [
  /** `bitwise`: a row's result is the same bits alone and in a batch. */
  'row_result',
  /** `contiguous`: the elements of a row lie one after the other. */
  'row_columns',
  'row_alignment_bytes',
  'activation_dtype',
  'norm_gain_dtype',
  /** `half_split` or `interleaved`. */
  'rope_pairs',
  /** `after_rope` or `before_rope`. */
  'cached_keys',
  /** `counted` where a window of W sees W keys, the row's own included. */
  'window_own_key',
  /** What argmax takes of equals: `lowest_id`. */
  'argmax_ties',
  /** `undefined` where memory that nobody wrote may hold anything. */
  'unwritten_memory',
] as const;
const stateValue = z.union([z.string(), z.number(), z.boolean()]);
const contractId = z.string().regex(/^[a-z0-9]+(?:[.-][a-z0-9]+)+$/);

/** Front matter of knowledge/contracts/<folder>/contract.md. Folder = id with dots as dashes. */
export const ContractFrontMatter = z.strictObject({
  id: contractId,
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  layer: z.enum(['common', 'family', 'model', 'deployment']),
  summary: z.string().min(10).max(200),
  applies_when: predicate,
  /**
   * The contract whose interface this one provides with another meaning: where applies_when holds it takes that one's
   * place, under that one's header name, for all who require it.
   */
  stands_for: contractId.optional(),
  provides: z.strictObject({
    header: z.string().regex(/^[a-z0-9_]+\.h$/),
    /** True where the header is the whole contract (types only) and no realization exists. */
    header_only: z.boolean().optional(),
    symbols: z
      .array(
        z.strictObject({
          signature: z.string(),
          shapes: z.record(z.string(), z.array(z.union([z.string(), z.number()]))).optional(),
          dtypes: z.record(z.string(), z.string()).optional(),
          layout: z.string().optional(),
          aliasing: z.string().optional(),
          threads: z.string().optional(),
          errors: z.string(),
        }),
      )
      .min(1),
  }),
  requires: z.array(contractId),
  /** Constants of config.h that a realization may use. */
  config: z.array(z.string()),
  numerics: z.strictObject({ accumulate: z.string(), tolerance }).optional(),
  invariants: z.array(
    z.strictObject({
      id: z.string(),
      says: z.string(),
      gate: z.string(),
      states: z.partialRecord(z.enum(stateKeys), stateValue).optional(),
    }),
  ),
  failure_modes: z.array(z.string()),
  gates: z.array(z.string()),
  sabotage: z.array(z.string()).optional(),
  sources: z.array(z.string()).min(1),
});
export type ContractFrontMatter = z.infer<typeof ContractFrontMatter>;

const dimension = z.union([z.int().min(0), z.string()]);

/** Input tensor of a gate case. Dimensions are numbers or names of config constants (`hidden_size`, `2*head_dim`). */
const GateInput = z.strictObject({
  shape: z.array(dimension),
  dtype: z.enum(['f32', 'i32', 'u8']).default('f32'),
  /** normal(0, scale) · uniform(-scale, scale) · around_one = 1 + normal(0, scale) · zeros · text (values) · given (values) · spikes = scale·1e-4 with one 1e4·scale per row · index (uniform integers in [0, below)) */
  fill: z.enum(['normal', 'uniform', 'around_one', 'zeros', 'spikes', 'index', 'values', 'text']),
  scale: z.number().optional(),
  below: dimension.optional(),
  values: z.array(z.number()).optional(),
  text: z.string().optional(),
});

/** knowledge/contracts/<folder>/gate.yaml: what the unit gate runs against reference.ts. */
export const Gate = z.strictObject({
  contract: contractId,
  /** Each entry overrides constants of the small asymmetric base model; an empty one is the base itself. The engine's own constants are always run as well. */
  configs: z.array(z.record(z.string(), z.union([z.number(), z.boolean(), z.string()]))),
  tolerance,
  cases: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[a-z0-9_]+$/),
        op: z.string(),
        inputs: z.record(z.string(), GateInput),
        params: z.record(z.string(), z.union([z.number(), z.string()])).optional(),
        tolerance: tolerance.optional(),
        /** The output must be bitwise equal to that of each row run alone (inputs named here are split by row). */
        rows_alone: z.array(z.string()).optional(),
        /** Bitwise, for integer or byte outputs; default for non-f32 outputs. */
        exact: z.boolean().optional(),
        /** Run only where these hold, e.g. the engine's own constants are too large for the case. */
        when: z.enum(['always', 'small', 'own']).default('always'),
        says: z.string().optional(),
      }),
    )
    .min(1),
});
export type Gate = z.infer<typeof Gate>;
export type GateInput = z.infer<typeof GateInput>;

const sha256Text = z.string().regex(/^(?:sha256:)?[0-9a-f]{64}$/);

/** One entry of knowledge/contracts/<folder>/evidence.yaml: a verified run that anyone can repeat. */
export const Evidence = z.strictObject({
  /** File name under realizations/. */
  realization: z.string().min(1),
  report: sha256Text,
  repeat: z.string().min(1),
  applies: predicate,
  /** `gpu`: the device that ran it, of an engine for one. */
  device: z.strictObject({ cpu: z.string(), threads: z.int().min(1), gpu: z.string().optional() }),
  toolchain: z.string().min(1),
  hashes: z.strictObject({ contract: sha256Text, realization: sha256Text, gate: sha256Text }),
  figures: z.record(z.string(), z.number()),
  date: z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
});
export type Evidence = z.infer<typeof Evidence>;

export interface Realization {
  /** `<contract folder>/realizations/<file>` file name, e.g. `cpu-x86_64-bf16.cpp`. */
  readonly file: string;
  readonly text: string;
  readonly sha256: string;
  /** From the `// applies:` line of the file's opening comment. */
  readonly applies: import('./target.ts').Predicate;
  /** From the `// requires:` line: contracts needed beyond those the contract itself requires. */
  readonly requires: readonly string[];
  /** From the `// replaces:` line: other contracts whose interface this one also fills. */
  readonly replaces: readonly string[];
  /**
   * From the `// fuses:` line: contracts whose work this one does itself, in kernels of its own. Their functions stay in
   * the engine, where the unit gate holds them to the same meaning, though nothing calls them.
   */
  readonly fuses: readonly string[];
}

export interface Contract {
  readonly folder: string;
  readonly frontMatter: ContractFrontMatter;
  readonly body: string;
  readonly header: { readonly name: string; readonly text: string; readonly sha256: string };
  readonly gate: Gate | undefined;
  readonly shim: { readonly text: string; readonly sha256: string } | undefined;
  readonly hasReference: boolean;
  /** SHA-256 of reference.ts; null where there is none. */
  readonly referenceSha256: string | null;
  readonly realizations: readonly Realization[];
  /** From evidence.yaml, oldest first. */
  readonly evidence: readonly Evidence[];
  /** SHA-256 of gate.yaml; null where there is none. */
  readonly gateSha256: string | null;
  /** SHA-256 of contract.md. */
  readonly sha256: string;
}
