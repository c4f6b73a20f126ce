import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { renderConfigHeader } from '../generation/config-header.ts';
import { writeEngine } from '../generation/write-engine.ts';
import type { SelectedContract, Selection } from '../model/catalog.ts';
import { AppError } from '../model/errors.ts';
import type { GateName, GateResult } from '../model/report.ts';
import type { SabotageEntry } from '../model/sabotage.ts';
import { composePrepared, type PreparedEngine } from '../preparation/prepare-engine.ts';
import type { Toolchain } from '../verification/build.ts';
import type { Effort, EngineUnderTest, OracleRun } from '../verification/gate-context.ts';
import { localise } from '../verification/localise.ts';
import { applyMutation, type Mutation } from '../verification/mutations.ts';
import { verifyEngine } from '../verification/verify-engine.ts';
import { engineUnderTest } from './judge-engine.ts';

/** An engine whose realizations are broken on purpose, one at a time. */
export interface SabotageSubject {
  readonly name: string;
  readonly prepared: PreparedEngine;
  readonly checkpointFolder: string;
  readonly toolchain: Toolchain;
  /** Answers for one checkpoint serve every mutant of it. */
  readonly oracle: (ids: readonly number[]) => Promise<OracleRun>;
}

export interface SabotageOutcome {
  readonly id: string;
  readonly says: string;
  readonly contract: string;
  readonly realization: string;
  readonly subject: string;
  /** The gate that turned red; null for a survivor, `build` where the mutant does not compile. */
  readonly detectedBy: GateName | null;
  /** The contract that the localiser names first, from the report alone. */
  readonly blamed: string | null;
  readonly isLocated: boolean;
  readonly seconds: number;
}

/** Every edit made once. @throws AppError KNOWLEDGE_INVALID where the text to change is not there exactly once */
export function applyEdits(text: string, entry: SabotageEntry): string {
  return entry.edits.reduce((source, { find, replace }) => {
    const parts = source.split(find);
    if (parts.length === 2) return parts.join(replace);
    throw new AppError(
      'KNOWLEDGE_INVALID',
      `sabotage ${entry.id}: ${entry.realization} holds the text to change ${parts.length - 1} times, expected once:\n${find}`,
    );
  }, text);
}

/** The selection with another text in one realization: knowledge that is wrong, and a provenance that agrees with it. */
function withRealization(
  selection: Selection,
  contractId: string,
  change: (text: string) => string,
): Selection {
  return {
    ...selection,
    contracts: selection.contracts.map((selected) => {
      if (selected.contract.frontMatter.id !== contractId) return selected;
      if (selected.status === 'header-only') return withHeader(selected, change);
      if (selected.realization === undefined) return selected;
      const text = change(selected.realization.text);
      const sha256 = createHash('sha256').update(text).digest('hex');
      return { ...selected, realization: { ...selected.realization, text, sha256 } };
    }),
  };
}

function withHeader(selected: SelectedContract, change: (text: string) => string): SelectedContract {
  const { contract } = selected;
  const text = change(contract.header.text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { ...selected, contract: { ...contract, header: { ...contract.header, text, sha256 } } };
}

interface Trial {
  readonly subject: SabotageSubject;
  readonly contract: string;
  readonly change: (text: string) => string;
  readonly runSeed: number;
  readonly gates: readonly GateName[];
  readonly sanitize: boolean;
  /** Run all the gates given, or only up to the first red one. */
  readonly stopAtFirstFailure: boolean;
  /** Only the unit gate of the changed contract, or of the first one that is made of it. */
  readonly nearest?: boolean;
}

/**
 * Leaves out the unit gates of contracts that don't reach the changed one: their programs are the unbroken engine's,
 * byte for byte, and stay green. Which of the others turns red first is left to the gates.
 */
function withAffectedGates(engine: EngineUnderTest, changed: string): EngineUnderTest {
  const isAffected = (id: string): boolean =>
    id === changed || (engine.contracts.find((entry) => entry.id === id)?.requires.some(isAffected) ?? false);
  const contracts = engine.contracts.map((entry) =>
    isAffected(entry.id) ? entry : { ...entry, gate: null },
  );
  return { ...engine, contracts };
}

/** Of the unit gates that remain, only the first: contracts stand in the order of their requirements. */
function withNearestGate(engine: EngineUnderTest): EngineUnderTest {
  const nearest = engine.contracts.find(({ gate }) => gate !== null);
  return {
    ...engine,
    contracts: engine.contracts.map((entry) => (entry === nearest ? entry : { ...entry, gate: null })),
  };
}

/** Composes the mutant, runs the gates on it and removes it. */
export async function judgeMutant(trial: Trial): Promise<readonly GateResult[]> {
  const { subject, contract, change } = trial;
  const selection = withRealization(subject.prepared.selection, contract, change);
  const prepared = { ...subject.prepared, selection };
  await mkdir(subject.toolchain.cacheFolder, { recursive: true });
  const scratch = await mkdtemp(join(subject.toolchain.cacheFolder, 'mutant-'));
  try {
    const folder = join(scratch, 'engine');
    await writeEngine(composePrepared(prepared), folder);
    const engine = withAffectedGates(engineUnderTest(prepared, folder), contract);
    const { gates } = await verifyEngine({
      engine: trial.nearest === true ? withNearestGate(engine) : engine,
      checkpointFolder: subject.checkpointFolder,
      toolchain: subject.toolchain,
      runSeed: trial.runSeed,
      checkProvenance: async () => [],
      renderConfigHeader,
      oracle: subject.oracle,
      gates: trial.gates,
      stopAtFirstFailure: trial.stopAtFirstFailure,
      effort: effortOf(trial),
      timeoutMs: 20_000,
    });
    return gates;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Host emulation is some hundred times slower than a processor, and enough for small engines. */
function effortOf({ subject, sanitize }: Trial): Partial<Effort> {
  if (subject.toolchain.cuda === undefined)
    return { oracleTokens: 160, processes: 2, variants: true, sanitize };
  return {
    oracleTokens: 40,
    engineTokens: 80,
    processes: 2,
    variants: true,
    sanitize,
    emulate: true,
    deviceBuild: false,
  };
}

const cheapGates: readonly GateName[] = [
  'build',
  'ledger',
  'trace',
  'logits',
  'text',
  'edges',
  'equivalence',
  'determinism',
];

/** Passes one after another, up to the first with a red gate: what the last of them said. */
async function firstRed<Pass>(
  passes: readonly Pass[],
  judge: (pass: Pass) => Promise<readonly GateResult[]>,
): Promise<readonly GateResult[]> {
  let gates: readonly GateResult[] = [];
  for (const pass of passes) {
    gates = await judge(pass);
    if (gates.some((gate) => gate.status === 'failed')) break;
  }
  return gates;
}

/** Hand-made mutations must be localised, so the unit gate, which is the most specific, comes first. */
export async function tryHandMade(
  entry: SabotageEntry,
  subject: SabotageSubject,
  runSeed: number,
): Promise<SabotageOutcome> {
  const started = performance.now();
  const common = {
    subject,
    contract: entry.contract,
    change: (text: string) => applyEdits(text, entry),
    runSeed,
  };
  const specific = ['static', 'build', 'ledger', 'unit'] as const;
  const passes = [
    // Without the engine as a whole, whose build takes longer than everything that the nearest gate does.
    { gates: ['static', 'unit'] as const, sanitize: false, nearest: true },
    { gates: specific, sanitize: false },
    { gates: cheapGates, sanitize: true },
  ];
  const gates = await firstRed(passes, (pass) =>
    judgeMutant({ ...common, ...pass, stopAtFirstFailure: true }),
  );
  return toOutcome(gates, subject.name, entry, [entry.contract, ...entry.also], started);
}

/** A mechanical mutation only has to be seen: the cheap gates first, then the unit gate and the sanitized build. */
export async function tryMechanical(
  place: { readonly contract: string; readonly realization: string },
  mutation: Mutation,
  subject: SabotageSubject,
  runSeed: number,
): Promise<SabotageOutcome> {
  const started = performance.now();
  const change = (text: string): string => applyMutation(text, mutation);
  const common = { subject, contract: place.contract, change, runSeed, stopAtFirstFailure: true };
  const passes = [
    { gates: cheapGates, sanitize: false },
    { gates: ['build', 'unit'] as const, sanitize: false },
    { gates: ['build', 'ledger', 'edges'] as const, sanitize: true },
  ];
  const gates = await firstRed(passes, (pass) => judgeMutant({ ...common, ...pass }));
  const id = `${place.contract}/${place.realization}:${mutation.line} ${mutation.kind}`;
  const says = `${mutation.original.slice(0, 80)} → ${mutation.replacement.slice(0, 80)}`;
  return toOutcome(gates, subject.name, { id, says, ...place }, [place.contract], started);
}

function toOutcome(
  gates: readonly GateResult[],
  subject: string,
  mutant: Pick<SabotageOutcome, 'id' | 'says' | 'contract' | 'realization'>,
  accepted: readonly string[],
  started: number,
): SabotageOutcome {
  const red = gates.find((gate) => gate.status === 'failed');
  const blamed = localise({ gates: [...gates] })[0]?.contract ?? null;
  const { id, says, contract, realization } = mutant;
  return {
    ...{ id, says, contract, realization, subject },
    detectedBy: red?.gate ?? null,
    blamed,
    isLocated: blamed !== null && accepted.includes(blamed),
    seconds: (performance.now() - started) / 1000,
  };
}
