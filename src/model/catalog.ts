import type { Contract, Realization } from './contract.ts';
import type { FailureMode } from './failure-mode.ts';
import type { ModelFamily, TokenizerFacts } from './model-facts.ts';
import type { MeasuredDevice } from './platform-facts.ts';
import type { Target } from './target.ts';

/** A published model that knowledge/models lists: its config.json and what its tokenizer is. */
export interface KnownModel {
  readonly id: string;
  readonly family: ModelFamily;
  /** Hugging Face config.json content, as far as it changes numbers. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly generationConfig: Readonly<Record<string, unknown>>;
  readonly tokenizer: TokenizerFacts;
  readonly source: string;
  /** Dotted keys (`generation_config.eos_token_id`) whose value comes from recollection, not from a source that was read. */
  readonly unverified: readonly string[];
}

/** What all models of one family share: knowledge/models/<family>.yaml without its list of models. */
export interface FamilyFacts {
  readonly family: ModelFamily;
  readonly architectures: readonly string[];
  readonly summary: string;
  readonly features: Readonly<
    Record<string, { readonly value: string | number | boolean; readonly source: string }>
  >;
  /** config.json key → what it means and what is done where it is absent. */
  readonly configKeys: Readonly<Record<string, string>>;
  /** `{i}` stands for the layer. Shapes are products of config.json keys, rows (outputs) first. */
  readonly tensors: readonly {
    readonly name: string;
    readonly shape: readonly string[];
    readonly when?: string | undefined;
  }[];
  readonly sources: readonly string[];
}

export interface Platform {
  readonly id: string;
  /** `arch` → how to compile for it. */
  readonly archs: Readonly<
    Record<
      string,
      {
        readonly flags: readonly string[];
        readonly vectorWidth: number;
        readonly cpuFlags: readonly string[];
      }
    >
  >;
  /** Commands, best first. */
  readonly compilers: readonly string[];
  /** Command → lowest major version that was tried. */
  readonly compilerMinimums: Readonly<Record<string, number>>;
  readonly flags: readonly string[];
  /** Of a GPU platform: the compiler of its `.cu` files, and what is known of the devices. Absent on a CPU. */
  readonly gpu?: GpuPlatform;
  /** What verified runs measured of devices. */
  readonly measured?: readonly MeasuredDevice[];
}

export interface GpuPlatform {
  readonly compiler: { readonly command: string; readonly minimumMajor: number };
  /** For every `.cu` file, `-arch` excepted. */
  readonly flags: readonly string[];
  /** Most that a kernel may use, before the build gate complains. */
  readonly limits: {
    readonly registersPerThread: number;
    readonly spillBytes: number;
    readonly sharedBytesPerBlock: number;
  };
  readonly devices: readonly GpuDevice[];
}

/** Stated by the vendor, not measured; `sources` of the platform file says where. */
export interface GpuDevice {
  /** As a constraint file names it: `h200`. */
  readonly id: string;
  readonly name: string;
  /** Of the platform's archs. */
  readonly arch: string;
  readonly memoryBytes: number;
  readonly bytesPerSecond: number;
  /** Dense bf16 with f32 sums, multiply-adds counted as two. */
  readonly bf16FlopsPerSecond: number;
  readonly l2Bytes: number;
  readonly sharedBytesPerBlock: number;
  readonly multiprocessors: number;
}

/** Everything under knowledge/, checked. */
export interface Catalog {
  readonly contracts: readonly Contract[];
  readonly families: readonly FamilyFacts[];
  readonly models: readonly KnownModel[];
  readonly platforms: readonly Platform[];
  /** Ids and file names without `.md`: what a contract may refer to. */
  readonly failureModeIds: readonly string[];
  readonly failureModes: readonly FailureMode[];
  /** SHA-256 over all files, in path order. */
  readonly sha256: string;
}

/** One contract of an engine and how it is filled. */
export interface SelectedContract {
  readonly contract: Contract;
  /** Absent for a header-only contract and for a missing realization. */
  readonly realization: Realization | undefined;
  /** agent: to be written, or written, by an agent from the contract alone; there is no realization then. */
  readonly status: 'realization' | 'header-only' | 'replaced' | 'agent' | 'missing';
  /** One sentence: why this realization (applicability, evidence, name), or what is missing. */
  readonly reason: string;
  /** Contracts of this engine whose headers its code may include: those of the contract, and those that it takes on this target. */
  readonly requires: readonly string[];
}

/** Contracts in dependency order (what is required comes first), ties by id. */
export interface Selection {
  readonly target: Target;
  readonly contracts: readonly SelectedContract[];
  /** Human sentences; empty where the engine can be composed. */
  readonly missing: readonly string[];
}
