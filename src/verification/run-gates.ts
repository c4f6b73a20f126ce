import { noDeviceReason } from '../model/device-words.ts';
import { type GateName, type GateResult, gateNames, timedGates } from '../model/report.ts';
import { EngineFailure } from './engine-channel.ts';
import {
  type GateContext,
  type GateFunction,
  type GateOutcome,
  placeFindings,
  statusOf,
} from './gate-context.ts';
import { type GatePlace, gatePlace } from './gate-place.ts';
import { runBuildGate } from './gates/build.ts';
import { runDeterminismGate } from './gates/determinism.ts';
import { runEdgesGate } from './gates/edges.ts';
import { runEquivalenceGate } from './gates/equivalence.ts';
import { runLedgerGate } from './gates/ledger.ts';
import { runLogitsGate } from './gates/logits.ts';
import { failureFinding } from './gates/sanitized.ts';
import { runStaticGate } from './gates/static.ts';
import { runTextGate } from './gates/text.ts';
import { runTraceGate } from './gates/trace.ts';
import { runUnitGate } from './gates/unit.ts';

/** The gates that need no clock; bench and physics follow in a step of their own. */
export const correctnessGates = gateNames.filter((gate) => !timedGates.has(gate));
type CorrectnessGate = Exclude<GateName, 'bench' | 'physics'>;

const functions: Readonly<Record<CorrectnessGate, GateFunction>> = {
  static: runStaticGate,
  build: runBuildGate,
  ledger: runLedgerGate,
  unit: runUnitGate,
  trace: runTraceGate,
  logits: runLogitsGate,
  edges: runEdgesGate,
  equivalence: runEquivalenceGate,
  text: runTextGate,
  determinism: runDeterminismGate,
};

/** A gate runs only where these passed: without them its result would mean nothing. */
const needs: Readonly<Record<CorrectnessGate, readonly CorrectnessGate[]>> = {
  static: [],
  build: ['static'],
  ledger: ['build'],
  unit: ['build'],
  trace: ['build', 'ledger'],
  logits: ['build', 'ledger'],
  edges: ['build', 'ledger'],
  equivalence: ['build', 'ledger'],
  text: ['build', 'ledger'],
  determinism: ['build', 'ledger'],
};

export interface GateProgress {
  readonly gate: GateName;
  readonly status: 'started' | GateResult['status'];
  readonly seconds: number;
}

export interface RunGatesOptions {
  /** Default: all correctness gates. */
  readonly gates?: readonly GateName[];
  /** Leaves the rest out after the first red gate; sabotage asks only whether there is one. */
  readonly stopAtFirstFailure?: boolean;
  readonly onProgress?: (progress: GateProgress) => void;
}

async function runOne(context: GateContext, gate: CorrectnessGate): Promise<GateOutcome> {
  try {
    return await functions[gate](context);
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    return { findings: [failureFinding(context.engine, gate, error, `during ${error.operation}`)] };
  }
}

/** A gate that this machine can say nothing about. */
export function notRun(gate: GateName, reason: string = noDeviceReason): GateResult {
  return { gate, status: 'not-run', reason, seconds: 0, findings: [], measurements: {} };
}

function skipped(gate: GateName, reason: string): GateResult {
  return { ...notRun(gate, reason), status: 'skipped' };
}

/**
 * Of an engine that agents wrote, each contract is judged by itself even where the whole doesn't build: one report then
 * names every faulty contract, and repair doesn't go through them one by one.
 */
function needsOf(gate: CorrectnessGate, { engine }: GateContext): readonly CorrectnessGate[] {
  const isWritten = engine.contracts.some(({ isAgentWritten }) => isAgentWritten === true);
  return gate === 'unit' && isWritten ? ['static'] : needs[gate];
}

/** The result of a gate that can't run after these results, or not here; undefined where it can. */
function obstacle(
  gate: CorrectnessGate,
  context: GateContext,
  results: readonly GateResult[],
  stopAtFirst: boolean,
): GateResult | undefined {
  const red = results.find((result) => result.status === 'failed');
  if (stopAtFirst && red !== undefined) return skipped(gate, `gate ${red.gate} failed`);
  const needed = needsOf(gate, context).flatMap(
    (name) => results.find((result) => result.gate === name) ?? [],
  );
  const missing = needed.find(({ status }) => status === 'failed' || status === 'skipped');
  if (missing !== undefined) return skipped(gate, `it needs gate ${missing.gate}, which did not pass`);
  // It says nothing, neither for nor against what rests on it.
  const silent = needed.find(({ status }) => status === 'not-run');
  if (silent !== undefined) return notRun(gate, silent.reason ?? undefined);
  return gatePlace(gate, context) === 'nowhere' ? notRun(gate) : undefined;
}

/** The host goes without saying. */
function ranOn(place: GatePlace, outcome: GateOutcome): Pick<GateResult, 'ranOn'> {
  if (outcome.ranOn !== undefined) return { ranOn: outcome.ranOn };
  return place === 'device' || place === 'emulation' ? { ranOn: place } : {};
}

/** Runs the gates in their order and says of each what came out or why it did not run. */
export async function runGates(context: GateContext, options: RunGatesOptions = {}): Promise<GateResult[]> {
  const wanted = correctnessGates.filter(
    (gate) => options.gates?.includes(gate) ?? true,
  ) as CorrectnessGate[];
  const results: GateResult[] = [];
  for (const gate of wanted) {
    const left = obstacle(gate, context, results, options.stopAtFirstFailure === true);
    if (left !== undefined) {
      results.push(left);
      continue;
    }
    options.onProgress?.({ gate, status: 'started', seconds: 0 });
    const started = performance.now();
    const outcome = await runOne(context, gate);
    const seconds = (performance.now() - started) / 1000;
    const status = statusOf(outcome);
    const findings = placeFindings(context.engine, outcome.findings);
    results.push({
      gate,
      status,
      ...(status === 'not-run' ? {} : ranOn(gatePlace(gate, context), outcome)),
      reason: outcome.notApplicable ?? outcome.notRun ?? null,
      seconds,
      findings,
      measurements: outcome.measurements ?? {},
    });
    options.onProgress?.({ gate, status, seconds });
  }
  return results;
}
