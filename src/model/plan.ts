import type { KnowledgeGap } from './knowledge-gap.ts';
import type { ModelFacts, TokenizerFacts } from './model-facts.ts';
import type { Target } from './target.ts';

/** Sizes and work that follow from the facts alone (research §3.5). Bytes are bytes, FLOPs count a multiply-add as two. */
export interface Arithmetic {
  readonly parameters: number;
  /** Parameters that take part in a matrix product for every decoded token: the head counts, the embedding table only where tied. */
  readonly matmulParameters: number;
  readonly weightBytes: number;
  /** Weights read once for each decoding step. */
  readonly weightBytesPerStep: number;
  readonly kvBytesPerToken: number;
  /** KV bytes of max_batch sequences of max_context tokens; a paged cache drops what a window no longer reaches. */
  readonly kvBytesTotal: number;
  readonly activationBytes: number;
  readonly memoryBytes: number;
  readonly flopsPerDecodedToken: number;
  readonly prefillFlops: number;
}

/** What the device could do at best; null where neither measured nor stated. On a GPU: operations in bf16, dense. */
export interface DeviceRates {
  readonly bytesPerSecond: number | null;
  readonly flopsPerSecond: number | null;
  readonly source: 'measured' | 'stated' | 'unknown';
}

/** What the constraint file asks for, as far as a reader of the plan needs it beside the sizes. */
export interface PlanRequest {
  readonly model: string;
  readonly memoryBytes: number;
  readonly threads: number;
  readonly maxContext: number;
  readonly maxBatch: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly concurrency: number;
}

/** Expected tokens of one contract, all of its attempts and reviews together. */
export interface ContractCost {
  readonly contract: string;
  readonly phase: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** What the estimate rests on: the contract's size, or measured runs. */
  readonly basis: string;
}

/** What a plan says of the GPU that it is for. */
export interface PlanGpu {
  /** As named by the constraint file; null where it names none. */
  readonly device: { readonly id: string; readonly name: string; readonly memoryBytes: number } | null;
  /** Ids of listed devices that run this engine. */
  readonly runsOn: readonly string[];
  /** Products of the tensor cores for one product of an activation and a weight. */
  readonly productsPerWeight: number;
}

export interface Plan {
  readonly name: string;
  readonly request: PlanRequest;
  readonly constraintsSha256: string;
  readonly catalogSha256: string;
  readonly target: Target;
  readonly facts: ModelFacts;
  readonly tokenizer: TokenizerFacts;
  /** On a GPU platform only. */
  readonly gpu?: PlanGpu;
  readonly coverage: readonly {
    readonly contract: string;
    readonly version: string;
    readonly status: 'realization' | 'header-only' | 'replaced' | 'agent' | 'missing';
    readonly realization: string | null;
    readonly reason: string;
  }[];
  readonly missing: readonly string[];
  /** What knowledge would need to cover it; absent where knowledge, or an agent, fills everything. */
  readonly gap?: KnowledgeGap;
  readonly files: readonly string[];
  readonly arithmetic: Arithmetic;
  readonly limit: {
    readonly device: DeviceRates;
    /** Bytes that one decoding step of `concurrency` sequences must move, at the workload's mean context. */
    readonly bytesPerStep: number;
    /** A named GPU's L2 cache may hold much of that from step to step: then its memory bounds nothing. */
    readonly isCached: boolean;
    /** Upper bound at the workload's mean context, all sequences together; null without a rate. */
    readonly decodeTokensPerSecond: number | null;
    readonly prefillTokensPerSecond: number | null;
    readonly ttftMs: number | null;
    /** Goals that the sizes or the rates rule out, one sentence each. */
    readonly unreachable: readonly string[];
  };
  /** Model tokens that agents are expected to need; null where contracts are missing and no agent may write them. */
  readonly cost: {
    readonly modelTokens: number | null;
    /** Null without a price. */
    readonly usd: number | null;
    /** Tokens that the run may use at most; null where nobody set a limit. */
    readonly limitTokens: number | null;
    /** One entry per contract that agents write, in the order of writing. */
    readonly contracts: readonly ContractCost[];
  };
}
