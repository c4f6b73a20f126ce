import type { Finding } from '../../model/report.ts';
import { drawFor, type GateContext, type GateOutcome, makeFinding } from '../gate-context.ts';
import { argmax, compareRows, divergence, figure, median } from '../measures.ts';

const maxAbsLimit = 1e-3;
const meanDivergenceLimit = 1e-6;
const bucketCount = 8;
const bucketFloor = 1e-8;
const bucketFactor = 3;

/** The ids that trace and logits share, so that the oracle works once. */
export function teacherIds(context: GateContext): number[] {
  const length = Math.min(context.effort.oracleTokens, context.engine.constraints.serving.max_context);
  return drawFor(context, 'logits').ids(length, context.engine.facts.vocabSize);
}

export interface LogitsFigures {
  readonly maxAbs: number;
  readonly meanDivergence: number;
  readonly topAgreement: number;
  readonly nmse: number;
  /** Mean KLD and NMSE per run of positions. */
  readonly buckets: readonly {
    readonly from: number;
    readonly to: number;
    readonly divergence: number;
    readonly nmse: number;
  }[];
}

export function measureLogits(wanted: readonly Float64Array[], got: readonly Float32Array[]): LogitsFigures {
  const divergences = wanted.map((row, index) => divergence(row, got[index]!));
  const agreements = wanted.filter((row, index) => argmax(row) === argmax(got[index]!)).length;
  const whole = compareRows(wanted, got);
  const size = Math.max(1, Math.ceil(wanted.length / bucketCount));
  const buckets = [];
  for (let from = 0; from < wanted.length; from += size) {
    const to = Math.min(wanted.length, from + size);
    const { nmse } = compareRows(wanted.slice(from, to), got.slice(from, to));
    buckets.push({ from, to, divergence: mean(divergences.slice(from, to)), nmse });
  }
  return {
    maxAbs: whole.maxAbs,
    meanDivergence: mean(divergences),
    topAgreement: agreements / wanted.length,
    nmse: whole.nmse,
    buckets,
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** What is wrong with the figures, in sentences with the contract that owns it. */
export function judgeLogits(
  context: GateContext,
  wanted: readonly Float64Array[],
  got: readonly Float32Array[],
): { figures: LogitsFigures; findings: Finding[] } {
  const figures = measureLogits(wanted, got);
  const { fidelity } = context.engine.constraints.goals;
  const limit = Math.min(meanDivergenceLimit, fidelity.mean_kld);
  const { worst, notFinite } = compareRows(wanted, got);
  const findings: Finding[] = [];
  // Where the trace reached, it found the hidden states right: what is left is the head. Beyond it, the cache and
  // attention are what depends on position.
  const owner = (row: number) => (row < context.engine.maxRows ? 'head.logits' : 'attention.core');
  const add = (message: string, evidence: Finding['evidence'], row = worst.row) =>
    findings.push(makeFinding('logits', owner(row), message, evidence));
  if (notFinite !== null) {
    add(
      `a logit is not finite: position ${notFinite.row}, token ${notFinite.column}`,
      {
        position: notFinite.row,
        token: notFinite.column,
        wanted: wanted[notFinite.row]![notFinite.column]!,
        got: figure(got[notFinite.row]![notFinite.column]!),
      },
      notFinite.row,
    );
    return { figures, findings };
  }
  if (!(figures.maxAbs <= maxAbsLimit)) {
    add(`logits are off by ${figures.maxAbs.toExponential(2)} (limit ${maxAbsLimit})`, {
      position: worst.row,
      token: worst.column,
      wanted: worst.wanted,
      got: worst.got,
    });
  }
  if (!(figures.meanDivergence <= limit)) {
    add(`mean KLD is ${figures.meanDivergence.toExponential(2)} (limit ${limit})`, {
      mean_kld: figures.meanDivergence,
      wanted: `mean KLD at most ${limit}`,
      got: figure(figures.meanDivergence),
    });
  }
  if (!(figures.topAgreement >= fidelity.top1_agreement)) {
    add(`top-1 agreement is ${figures.topAgreement} (goal ${fidelity.top1_agreement})`, {
      top1: figures.topAgreement,
      wanted: `top-1 agreement of at least ${fidelity.top1_agreement}`,
      got: figures.topAgreement,
    });
  }
  return { figures, findings: [...findings, ...findOutliers(figures)] };
}

/** Positions whose error stands out: caches, windows and rotations go wrong at some positions only. */
function findOutliers(figures: LogitsFigures): Finding[] {
  const findings: Finding[] = [];
  for (const measure of ['divergence', 'nmse'] as const) {
    const middle = median(figures.buckets.map((bucket) => bucket[measure]));
    for (const bucket of figures.buckets) {
      const value = bucket[measure];
      if (!(value > bucketFloor && value > bucketFactor * middle)) continue;
      const name = measure === 'divergence' ? 'KLD' : 'NMSE';
      const message = `${name} at positions ${bucket.from} to ${bucket.to - 1} is ${value.toExponential(2)}, over 3 times the median ${middle.toExponential(2)}`;
      const evidence = {
        from: bucket.from,
        to: bucket.to - 1,
        wanted: `${name} near the median of all positions, ${middle.toExponential(2)}`,
        got: value,
      };
      findings.push(makeFinding('logits', 'attention.core', message, evidence));
    }
  }
  return findings;
}

/** Teacher-forced logits against the oracle on the same weights. */
export async function runLogitsGate(context: GateContext): Promise<GateOutcome> {
  const ids = teacherIds(context);
  const session = await context.openEngine();
  try {
    const got = await session.logits(ids);
    const { logits } = await context.oracle(ids);
    const { figures, findings } = judgeLogits(context, logits, got);
    return {
      findings,
      measurements: {
        positions: ids.length,
        max_abs: figures.maxAbs,
        mean_kld: figures.meanDivergence,
        top1_agreement: figures.topAgreement,
        nmse: figures.nmse,
        worst_bucket_kld: Math.max(...figures.buckets.map((bucket) => bucket.divergence)),
      },
    };
  } finally {
    await session.quit();
  }
}
