import { agentRoles } from '../../model/language-model.ts';
import type { AblationPlan, AblationResult } from './ablation-plan.ts';
import { callsFigure, type Figure, figures } from './figures.ts';
import type { Mode } from './mode-text.ts';
import { compareSeries, type Ratio, type Spread, spreadOf } from './spread.ts';

/** Whether figures about a model may be derived from the runs, and if not, why. */
export type Basis = 'real-model' | 'no-real-model' | 'no-model-asked';

export interface CellReport {
  readonly file: string;
  readonly mode: Mode;
  readonly planned: number;
  readonly finished: number;
  readonly passed: number;
  /** Runs that were interrupted and taken up again. */
  readonly interrupted: number;
  readonly figures: Readonly<Record<string, Spread>>;
  /** Role → calls of a run. */
  readonly callsByRole: Readonly<Record<string, Spread>>;
  /** Gate (or answer, review) → texts that it rejected in a run; empty without a real model. */
  readonly rejections: Readonly<Record<string, Spread>>;
  /** Tokens of all runs over the runs that passed; null without a pass, or without a real model. */
  readonly tokensPerPass: number | null;
}

/** One figure of one mode against the mode that all are compared with. */
export interface Comparison {
  readonly file: string;
  readonly figure: string;
  readonly base: Mode;
  readonly mode: Mode;
  readonly ratio: number;
  readonly interval: Ratio['interval'];
  /** What the interval allows to say. */
  readonly says: 'less' | 'more' | 'no difference shown' | 'too few runs';
}

export interface AblationReport {
  readonly schema: 'metainfer/ablation-report/v1';
  readonly basis: Basis;
  /** What every page says first; null where there is nothing to say. */
  readonly notice: string | null;
  readonly plan: AblationPlan;
  readonly finished: number;
  readonly planned: number;
  /** Figure → what it counts. Only the figures that this report has. */
  readonly meanings: readonly { readonly key: string; readonly title: string; readonly meaning: string }[];
  readonly cells: readonly CellReport[];
  /** Mode that the others are compared with; null with a single mode. */
  readonly base: Mode | null;
  readonly comparisons: readonly Comparison[];
  /** Why modes of a file are not compared. */
  readonly withheld: readonly string[];
  /** The runs in the order of the plan; their records only where a real model took part. */
  readonly runs: readonly (Omit<AblationResult, 'schema' | 'record' | 'seconds'> & {
    readonly calls: number;
    readonly seconds?: number;
    readonly record?: AblationResult['record'];
  })[];
}

const notices: Readonly<Record<Basis, string | null>> = {
  'real-model': null,
  'no-real-model':
    'No real model took part: a test double or an outside answerer gave the answers. These pages show call counts only; no first-pass rate and no saving can be derived from them.',
  'no-model-asked':
    'No language model was asked in any run. These pages show call counts only; no first-pass rate and no saving can be derived from them.',
};

/** The report of the runs that are finished. One run without a real model makes all of it call counts. */
export function makeAblationReport(plan: AblationPlan, results: readonly AblationResult[]): AblationReport {
  const basis = basisOf(results);
  const isReal = basis === 'real-model';
  const shown = isReal ? figures : [callsFigure];
  const cells = plan.files.flatMap(({ name }) =>
    plan.modes.map((mode) => describeCell(plan, name, mode, results, shown, isReal)),
  );
  const base =
    plan.modes.length < 2 ? null : (plan.modes.find((mode) => mode === 'zero-reference') ?? plan.modes[0]!);
  return {
    schema: 'metainfer/ablation-report/v1',
    basis,
    notice: results.length === 0 ? null : notices[basis],
    plan,
    finished: results.length,
    planned: plan.files.length * plan.modes.length * plan.repeats,
    meanings: shown.map(({ key, title, meaning }) => ({ key, title, meaning })),
    cells,
    base,
    ...(isReal && base !== null ? compareModes(cells, base) : { comparisons: [], withheld: [] }),
    runs: results.map((result) => describeResult(result, isReal)),
  };
}

function describeResult(result: AblationResult, isReal: boolean): AblationReport['runs'][number] {
  const { schema: _, record, seconds, ...rest } = result;
  const calls = record?.spent.calls ?? 0;
  return isReal ? { ...rest, calls, seconds, record } : { ...rest, calls };
}

function basisOf(results: readonly AblationResult[]): Basis {
  const asked = results.flatMap(({ record }) => (record !== null && record.spent.calls > 0 ? [record] : []));
  if (asked.length === 0) return 'no-model-asked';
  return asked.every(({ isRealModel }) => isRealModel) ? 'real-model' : 'no-real-model';
}

function describeCell(
  plan: AblationPlan,
  file: string,
  mode: Mode,
  results: readonly AblationResult[],
  shown: readonly Figure[],
  isReal: boolean,
): CellReport {
  const runs = results.filter((result) => result.file === file && result.mode === mode);
  const passed = runs.filter(({ end }) => end === 'passed').length;
  const tokens = figures.find(({ key }) => key === 'tokens')!;
  const sum = runs.reduce((total, run) => total + (tokens.read(run) ?? 0), 0);
  return {
    file,
    mode,
    planned: plan.repeats,
    finished: runs.length,
    passed,
    interrupted: runs.filter(({ sittings }) => sittings > 1).length,
    figures: spreads(shown.map(({ key, read }) => [key, runs.map(read)])),
    callsByRole: spreads(
      agentRoles.map((role) => [role, runs.map(({ record }) => record?.byRole[role]?.calls ?? 0)]),
    ),
    rejections: isReal ? spreadRejections(runs) : {},
    tokensPerPass: isReal && passed > 0 ? sum / passed : null,
  };
}

/** Entries without a value are left out. */
function spreads(
  entries: readonly (readonly [string, readonly (number | null)[]])[],
): Record<string, Spread> {
  return Object.fromEntries(
    entries.flatMap(([key, values]) => {
      const spread = spreadOf(values.filter((value) => value !== null));
      return spread === undefined ? [] : [[key, spread] as const];
    }),
  );
}

function spreadRejections(runs: readonly AblationResult[]): Record<string, Spread> {
  const sources = [...new Set(runs.flatMap(({ record }) => Object.keys(record?.rejections ?? {})))].sort();
  return spreads(
    sources.map((source) => [source, runs.map(({ record }) => record?.rejections[source] ?? 0)]),
  );
}

/** A mode in which runs failed is not compared: what an engine costs that isn't there says nothing about saving. */
function compareModes(
  cells: readonly CellReport[],
  base: Mode,
): Pick<AblationReport, 'comparisons' | 'withheld'> {
  const comparisons: Comparison[] = [];
  const withheld: string[] = [];
  for (const cell of cells.filter(({ mode }) => mode !== base)) {
    const other = cells.find(({ file, mode }) => file === cell.file && mode === base)!;
    const unequal = [other, cell].filter(({ passed, finished }) => passed < finished || finished === 0);
    if (unequal.length === 0) comparisons.push(...compareCells(other, cell));
    else withheld.push(...unequal.map((each) => describeWithheld(cell, each)));
  }
  return { comparisons, withheld: [...new Set(withheld)] };
}

function describeWithheld(cell: CellReport, { mode, passed, finished }: CellReport): string {
  const why =
    finished === 0 ? `no run of ${mode} is finished` : `${passed} of ${finished} runs of ${mode} passed`;
  return `${cell.file}: ${cell.mode} is not compared, since ${why}.`;
}

function compareCells(base: CellReport, cell: CellReport): Comparison[] {
  return figures
    .filter(({ isCost }) => isCost)
    .flatMap(({ key }) => {
      const [above, below] = [cell.figures[key], base.figures[key]];
      // Where no model was asked, one line says so.
      if (above?.high === 0 && key !== callsFigure.key) return [];
      const compared = above && below ? compareSeries(above.values, below.values) : undefined;
      if (compared === undefined) return [];
      const { ratio, interval } = compared;
      const says = readInterval(interval);
      return [{ file: cell.file, figure: key, base: base.mode, mode: cell.mode, ratio, interval, says }];
    });
}

function readInterval(interval: Ratio['interval']): Comparison['says'] {
  if (interval === null) return 'too few runs';
  if (interval[1] < 1) return 'less';
  return interval[0] > 1 ? 'more' : 'no difference shown';
}
