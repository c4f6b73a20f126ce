import type { Constraints } from '../model/constraints.ts';
import type { Gate } from '../model/contract.ts';
import type { ModelFacts, TokenizerFacts } from '../model/model-facts.ts';
import type { Finding, GateName, GateResult, Measurements } from '../model/report.ts';
import type { EngineClient } from './protocol-client.ts';
import { Random } from './random.ts';
import type { Limits } from './sandbox.ts';
import type { Toolchain } from './toolchain.ts';

/** One contract of the engine under test: what knowledge says, and which files of the engine fill it. */
export interface EngineContract {
  readonly id: string;
  /** The contract whose place it takes in this engine: a gate that blames that one means this one. */
  readonly standsFor?: string;
  /** Header and source in the engine folder; a header-only or replaced contract has no source. */
  readonly header: string;
  readonly source: string | null;
  /** Contracts needed, those of the realization included. */
  readonly requires: readonly string[];
  /** Written by an agent: such a contract is also judged by itself where the whole doesn't build. */
  readonly isAgentWritten?: boolean;
  /** Constants of config.h. */
  readonly config: readonly string[];
  readonly gate: Gate | null;
  readonly shim: string | null;
  /** Absolute path of reference.ts (or .js in a build); null where the contract has none. */
  readonly reference: string | null;
}

export interface EngineUnderTest {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  readonly constraints: Constraints;
  readonly facts: ModelFacts;
  readonly tokenizer: TokenizerFacts;
  readonly weightFormat: 'f32' | 'bf16' | 'f16';
  readonly vectorWidth: number;
  /** Its tensors lie in a GPU's memory, and its .cu sources need nvcc. */
  readonly onDevice: boolean;
  /** Rows of one forward call. */
  readonly maxRows: number;
  /** In dependency order. */
  readonly contracts: readonly EngineContract[];
}

/** The oracle's answer for one sequence from position 0. */
export interface OracleRun {
  /** 2 * layers + 2 states, [ids * hidden] each, in the order of the protocol's trace. */
  readonly stages: readonly Float64Array[];
  /** One row per id. */
  readonly logits: readonly Float64Array[];
}

/** What gates need of a running engine; EngineClient in earnest, a stand-in in the gates' own tests. */
export type EngineSession = Omit<EngineClient, 'channel'>;

/** What config.h is made from. */
export interface ConfigInput {
  readonly name: string;
  readonly facts: ModelFacts;
  readonly threads: number;
  /** f32 lanes: 4, 8 or 16; 1 on a GPU. */
  readonly vectorWidth: number;
  /** Tensors lie in a GPU's memory; absent: in the host's. */
  readonly onDevice?: boolean;
  /** Weights are f16, not bf16; absent: they are not. */
  readonly weightsF16?: boolean;
  readonly maxContext: number;
  readonly maxBatch: number;
}

/** The composer's function, which verification may not import. */
export type RenderConfigHeader = (input: ConfigInput, wanted: ReadonlySet<string>) => string;

export interface GateContext {
  readonly engine: EngineUnderTest;
  readonly checkpointFolder: string;
  readonly runSeed: number;
  readonly scratchFolder: string;
  readonly toolchain: Toolchain;
  /**
   * Set by the build gate. Of an engine for a GPU, `plain` needs one; `emulated`, and there `sanitized`, run without,
   * and `emulated` is built on first use where the gate left it out.
   */
  readonly binaries: { plain?: string; sanitized?: string; emulated?: string };
  readonly checkProvenance: (folder: string) => Promise<readonly Finding[]>;
  readonly renderConfigHeader: RenderConfigHeader;
  readonly oracle: (ids: readonly number[]) => Promise<OracleRun>;
  /** Writes a copy of the checkpoint to `folder` in which one tensor differs, in rows that `ids` use. */
  readonly perturb: (tensor: string, ids: readonly number[], folder: string) => Promise<void> | void;
  /**
   * Starts a fresh process and loads `folder` (default: the checkpoint). The caller quits it. An engine for a GPU runs in
   * emulation where there is none.
   */
  readonly openEngine: (options?: {
    readonly build?: 'plain' | 'sanitized';
    readonly folder?: string;
  }) => Promise<EngineSession>;
  /** How much work: tests and sabotage ask for less. */
  readonly effort: Effort;
}

export interface Effort {
  /** Tokens that the oracle may work through in one sequence. */
  readonly oracleTokens: number;
  /** Fresh processes of the determinism gate. */
  readonly processes: number;
  /** Whether the unit gate also runs the small models of each gate.yaml. */
  readonly variants: boolean;
  /** Whether the sanitized build is made and run. */
  readonly sanitize: boolean;
  /** Tokens that the engine itself may work through in one sequence; default 20 times the oracle's. */
  readonly engineTokens?: number;
  /** Answers in which gate text waits for an end-of-text token; default as many as one hardly ever misses it in. */
  readonly endAttempts?: number;
  /** Whether a whole engine for a GPU runs in host emulation where there is no GPU; absent: it doesn't. */
  readonly emulate?: boolean;
  /** false: an engine for a GPU is built for its host emulation alone, as sabotage does, where nobody runs the other. */
  readonly deviceBuild?: boolean;
  /** For the programs of the unit gate, where they are to be tighter than the usual ones. */
  readonly unitLimits?: Partial<Limits>;
}

export type GateFunction = (context: GateContext) => Promise<GateOutcome>;

/** What a gate found; the runner adds name, status and time. */
export interface GateOutcome {
  readonly findings: readonly Finding[];
  readonly measurements?: Measurements;
  /** The engine has nothing that this gate could check: why. */
  readonly notApplicable?: string;
  /** This machine lacks what the gate needs: why. */
  readonly notRun?: string;
  /** Where the code under test ran, if the runner can't tell. */
  readonly ranOn?: NonNullable<GateResult['ranOn']>;
}

/** A stream of its own per gate, so that one gate's draws don't depend on another's. */
export function drawFor(context: GateContext, gate: GateName): Random {
  return new Random(context.runSeed, gate);
}

export function makeFinding(
  gate: GateName,
  contract: string | null,
  message: string,
  evidence: Finding['evidence'] = {},
  place: { readonly file?: string | null; readonly line?: number | null } = {},
): Finding {
  return {
    gate,
    contract,
    file: place.file ?? null,
    line: place.line ?? null,
    message: message.slice(0, 4000),
    evidence,
  };
}

/** Findings with the contract that this engine has in place of the one named, and its source file where none is named. */
export function placeFindings(engine: EngineUnderTest, findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => {
    if (finding.contract === null) return finding;
    const contract =
      engine.contracts.find((candidate) => candidate.standsFor === finding.contract) ??
      engine.contracts.find((candidate) => candidate.id === finding.contract);
    const named = { ...finding, contract: contract?.id ?? finding.contract };
    return finding.file === null ? { ...named, file: contract?.source ?? contract?.header ?? null } : named;
  });
}

/** The contract that owns a file of the engine folder; config.h and the like belong to none. */
export function contractOfFile(engine: EngineUnderTest, file: string | null): string | null {
  if (file === null) return null;
  return (
    engine.contracts.find((contract) => contract.header === file || contract.source === file)?.id ?? null
  );
}

export function statusOf(outcome: GateOutcome): GateResult['status'] {
  if (outcome.notApplicable !== undefined) return 'not-applicable';
  if (outcome.notRun !== undefined && outcome.findings.length === 0) return 'not-run';
  return outcome.findings.length === 0 ? 'passed' : 'failed';
}
