import type { ModelFacts, TokenizerFacts } from './model-facts.ts';

/** A tensor that crosses the boundary between the harness and a shim, or goes into a reference. Row-major. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float64Array | Int32Array | Uint8Array;
}

export interface ReferenceCase {
  readonly inputs: Readonly<Record<string, Tensor>>;
  readonly params: Readonly<Record<string, number | string>>;
  /** Facts of the model whose constants the shim was compiled with. */
  readonly facts: ModelFacts;
  readonly weightFormat: 'f32' | 'bf16' | 'f16';
  /** Which text realizations the engine was composed of; needed by the references of the text contracts. */
  readonly tokenizer?: TokenizerFacts;
}

/** What each contract's reference.ts exports as `ops`: op name → outputs by name, in float64. */
export type ReferenceOps = Readonly<
  Record<string, (unit: ReferenceCase) => Readonly<Record<string, Tensor>>>
>;
