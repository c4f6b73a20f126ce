import type { ModelFacts } from '../../model/model-facts.ts';
import type { Finding } from '../../model/report.ts';
import { type GateContext, type GateOutcome, makeFinding } from '../gate-context.ts';
import { compareRows, figure } from '../measures.ts';
import { teacherIds } from './logits.ts';

const cosineLimit = 0.9999;
const nmseLimit = 1e-9;
// One f32 sub-block adds about 1e-14 to 1e-13; a jump beyond both figures is an error of its own, not rounding.
const jumpFloor = 1e-11;
const jumpFactor = 30;

/** Name and owner of one state of the trace. */
export function describeStage(
  stage: number,
  facts: ModelFacts,
): { readonly name: string; readonly contract: string } {
  if (stage === 0) return { name: 'embedding', contract: 'embedding.token' };
  if (stage === 2 * facts.numLayers + 1) return { name: 'final norm', contract: 'norm.rms' };
  const layer = Math.floor((stage - 1) / 2);
  return stage % 2 === 1
    ? { name: `layer ${layer} after attention`, contract: 'attention.block' }
    : { name: `layer ${layer} after MLP`, contract: 'mlp.gated' };
}

export interface StageFigures {
  readonly nmse: number;
  readonly cosine: number;
}

/** The first state that diverges, as a finding; and the figures of each. */
export function judgeTrace(
  facts: ModelFacts,
  wanted: readonly Float64Array[],
  got: readonly Float32Array[],
): { stages: StageFigures[]; findings: Finding[] } {
  const stages: StageFigures[] = [];
  const findings: Finding[] = [];
  let highest = 0;
  for (const [stage, reference] of wanted.entries()) {
    const comparison = compareRows(
      splitRows(reference, facts.hiddenSize),
      splitRows(got[stage]!, facts.hiddenSize),
    );
    const { nmse, minCosine: cosine, notFinite, worst } = comparison;
    stages.push({ nmse, cosine });
    const { name, contract } = describeStage(stage, facts);
    const evidence = {
      stage,
      nmse,
      cosine,
      position: worst.row,
      element: worst.column,
      wanted: worst.wanted,
      got: worst.got,
    };
    if (notFinite !== null) {
      const { row, column } = notFinite;
      const at = row * facts.hiddenSize + column;
      const values = { wanted: reference[at]!, got: figure(got[stage]![at]!) };
      const where = { stage, position: row, element: column, ...values };
      findings.push(
        makeFinding('trace', contract, `${name}: not finite at position ${notFinite.row}`, where),
      );
    } else if (!(cosine >= cosineLimit && nmse <= nmseLimit)) {
      const figures = `NMSE ${nmse.toExponential(2)} (limit ${nmseLimit}), cosine ${cosine.toFixed(6)}`;
      findings.push(
        makeFinding('trace', contract, `${name} is the first state to diverge: ${figures}`, evidence),
      );
    } else if (nmse > jumpFloor && nmse > jumpFactor * highest) {
      const jump = `NMSE jumps from ${highest.toExponential(2)} to ${nmse.toExponential(2)}`;
      findings.push(makeFinding('trace', contract, `${name}: ${jump}`, evidence));
    }
    if (findings.length > 0) break;
    highest = Math.max(highest, nmse);
  }
  return { stages, findings };
}

function splitRows<Data extends Float32Array | Float64Array>(data: Data, width: number): Data[] {
  return Array.from(
    { length: data.length / width },
    (_, row) => data.subarray(row * width, (row + 1) * width) as Data,
  );
}

/** How many of the teacher's ids the trace covers: one forward call. */
export function traceLength(context: GateContext): number {
  return Math.min(teacherIds(context).length, context.engine.maxRows);
}

/** Hidden state after each sub-block against the oracle's: the first that diverges names the contract. */
export async function runTraceGate(context: GateContext): Promise<GateOutcome> {
  const { facts } = context.engine;
  const ids = teacherIds(context);
  const length = traceLength(context);
  const session = await context.openEngine();
  try {
    const got = await session.trace(ids.slice(0, length));
    const { stages } = await context.oracle(ids);
    // A causal model's states at a position don't depend on later ones.
    const wanted = stages.map((state) => state.subarray(0, length * facts.hiddenSize));
    const judged = judgeTrace(facts, wanted, got);
    const last = judged.stages.at(-1);
    return {
      findings: judged.findings,
      measurements: {
        positions: length,
        states: judged.stages.length,
        last_nmse: last?.nmse ?? null,
        last_cosine: last?.cosine ?? null,
      },
    };
  } finally {
    await session.quit();
  }
}
