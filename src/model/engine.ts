/** A file of a generated engine. Path is relative to the engine folder, with forward slashes. */
export interface EngineFile {
  readonly path: string;
  readonly text: string;
}

/** Where a file came from: content hashes only, so that the same inputs give the same bytes. */
export interface FileProvenance {
  readonly path: string;
  readonly sha256: string;
  readonly origin:
    | { readonly kind: 'composer'; readonly from: string }
    | {
        readonly kind: 'contract';
        readonly contract: string;
        readonly version: string;
        readonly sha256: string;
      }
    | {
        readonly kind: 'realization';
        readonly contract: string;
        readonly version: string;
        readonly contractSha256: string;
        readonly realization: string;
        readonly realizationSha256: string;
        readonly gateSha256: string | null;
      }
    | {
        readonly kind: 'agent';
        readonly contract: string;
        readonly version: string;
        readonly contractSha256: string;
        readonly gateSha256: string | null;
        readonly model: string;
        /** Hash of the prompt with its settings. */
        readonly requestSha256: string;
      };
}

export interface EngineSources {
  readonly name: string;
  readonly files: readonly EngineFile[];
  readonly provenance: readonly FileProvenance[];
  /** Lines of .h, .cpp and .cu files together. */
  readonly lineCount: number;
}
