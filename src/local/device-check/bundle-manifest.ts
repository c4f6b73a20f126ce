/**
 * What a device-check bundle holds, as its manifest.json says it; device/*.py read it on the device machine. Paths are
 * relative to the bundle.
 */
export interface BundleManifest {
  readonly schema: 'metainfer/device-check-bundle/v1';
  readonly createdAt: string;
  /** Of the knowledge that the engines were composed from. */
  readonly catalogSha256: string;
  /** Ids, unit inputs and texts were drawn from it; the device machine draws from it what needs no reference. */
  readonly seed: number;
  readonly files: readonly BundleFile[];
  readonly compile: CompileFlags;
  readonly objects: readonly BundleObject[];
  readonly programs: readonly BundleProgram[];
  readonly checked: CheckedEngine;
  /** In the order in which they are measured. */
  readonly shapes: readonly BundleShape[];
  /** Stands in for every shape where there is no device: its figures say nothing. */
  readonly miniature: BundleShape;
  readonly units: readonly BundleUnit[];
}

export interface BundleFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface CompileFlags {
  readonly cxx: readonly string[];
  readonly nvcc: readonly string[];
  /** Code for the one device that this check is for, e.g. `-gencode=arch=compute_90,code=sm_90`. */
  readonly gencode: string;
}

/** One compilation. Two that give the same object have the same key and stand here once. */
export interface BundleObject {
  readonly key: string;
  readonly folder: string;
  readonly source: string;
}

export interface BundleProgram {
  readonly id: string;
  /** Keys. */
  readonly objects: readonly string[];
}

export interface EngineConstants {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly numLayers: number;
  readonly maxContext: number;
  readonly maxBatch: number;
  readonly maxRows: number;
}

/** The engine that every gate runs on, its checkpoint, and what the oracle says. */
export interface CheckedEngine {
  readonly name: string;
  readonly program: string;
  readonly checkpoint: string;
  readonly constants: EngineConstants;
  readonly fidelity: { readonly meanKld: number; readonly top1Agreement: number };
  readonly tensors: readonly {
    readonly name: string;
    readonly dtype: string;
    readonly shape: readonly number[];
  }[];
  readonly oracle: {
    readonly ids: readonly number[];
    /** float64 [ids, vocab_size]. */
    readonly logits: string;
    /** float64 [2 * layers + 2, traceLength, hidden_size]. */
    readonly trace: string;
    readonly traceLength: number;
    /** What the oracle would say next; none of its choices is a close call. */
    readonly greedy: readonly { readonly prompt: readonly number[]; readonly ids: readonly number[] }[];
  };
  readonly ledger: { readonly ids: readonly number[]; readonly probes: readonly LedgerProbe[] };
  readonly texts: readonly {
    readonly text: string;
    readonly addSpecial: boolean;
    readonly parseSpecial: boolean;
    readonly ids: readonly number[];
  }[];
}

/** Bytes of one tensor that are written over others: the logits must change. */
export interface LedgerProbe {
  readonly tensor: string;
  readonly contract: string;
  readonly file: string;
  readonly patches: readonly { readonly offset: number; readonly hex: string }[];
}

export interface BundleShape {
  readonly id: string;
  readonly program: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly generationConfig: Readonly<Record<string, unknown>> | null;
  readonly seed: number;
  readonly tensors: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly mean: number;
    readonly spread: number;
  }[];
  readonly constants: EngineConstants;
  /** What PyTorch's model of it is built from. */
  readonly facts: Readonly<Record<string, number | boolean>>;
  readonly work: ShapeWork;
  /** Positions already in the cache when decoding begins. */
  readonly decodeDepths: readonly number[];
  readonly decodeSteps: number;
  readonly prefillTokens: readonly number[];
}

/** Bytes and operations that nothing can avoid. */
export interface ShapeWork {
  readonly weightBytesPerStep: number;
  /** KV cache that a decode step reads for each position before it. */
  readonly kvBytesPerPosition: number;
  readonly prefillFlops: Readonly<Record<string, number>>;
}

export interface BundleUnit {
  readonly id: string;
  readonly contract: string;
  readonly program: string;
  readonly cases: string;
  /** The format of a shim's results with kind `d`: float64. */
  readonly wanted: string;
  readonly checks: readonly {
    readonly caseId: string;
    readonly nmse: number;
    readonly maxAbs: number;
    readonly exact: boolean;
    readonly rows: number;
    /** Rows that are also run alone, in the order of their cases. */
    readonly alone: readonly number[];
    readonly inputs: string;
  }[];
}
