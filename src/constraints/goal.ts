import type { Constraints } from '../model/constraints.ts';
import { baselines, type MetricName, type MetricUnit, metrics } from '../model/metrics.ts';
import { nearestName } from '../model/nearest-name.ts';
import { readSize } from './memory-size.ts';
import { showText } from './problem-list.ts';

export type Goal = Constraints['goals']['require'][number];
export type GoalReading =
  | { readonly goal: Goal }
  | { readonly refused: string; readonly suggestion?: string };

const comparisons: Readonly<Record<string, Goal['comparison']>> = {
  '<=': '<=',
  '=<': '<=',
  '≤': '<=',
  '>=': '>=',
  '=>': '>=',
  '≥': '>=',
  '<': '<',
  '>': '>',
};

const unitSpellings: Record<MetricUnit, readonly string[]> = {
  ms: ['ms'],
  'tokens/s': ['tokens/s', 'tok/s', 't/s'],
  'requests/s': ['requests/s', 'req/s'],
  bytes: [],
};

/** What a goal on `name` may look like, for messages. */
export function goalForms(name: MetricName): string {
  const sign = metrics[name].better === 'lower' ? '<=' : '>=';
  return `${absoluteGoalForms(name)}, or "${sign} 1.0x ${baselines[0]}" relative to a baseline`;
}

/** The forms without a baseline. */
export function absoluteGoalForms(name: MetricName): string {
  const { unit, better } = metrics[name];
  const sign = better === 'lower' ? '<=' : '>=';
  const absolute = { ms: `"${sign} 900" or "${sign} 900 ms"`, bytes: `"${sign} 2 GB" or "${sign} 2GiB"` };
  return unit === 'ms' || unit === 'bytes' ? absolute[unit] : `"${sign} 20" or "${sign} 20 ${unit}"`;
}

/** Reads `<= 900`, `<=2000ms`, `>= 1.0x llama.cpp`, `<= 2 GB`. */
export function readGoal(name: MetricName, written: string): GoalReading {
  const forms = `expected ${goalForms(name)}`;
  if (/[“”‘’]/.test(written))
    return { refused: `curly quotes are part of the text; ${forms}`, suggestion: 'Use plain quotes.' };
  const parts =
    /^\s*(<=|>=|=<|=>|≤|≥|<|>)?\s*(\d{1,15}(?:\.\d{1,15})?(?:[eE][-+]?\d{1,2})?)\s*(.{0,60}?)\s*$/.exec(
      written,
    );
  if (parts === null) return { refused: forms };
  const comparison = comparisons[parts[1] ?? ''];
  if (comparison === undefined) return { refused: `a comparison is missing; ${forms}` };
  const isUpper = comparison === '<=' || comparison === '<';
  if (isUpper !== (metrics[name].better === 'lower'))
    return {
      refused: `${name} is better when ${metrics[name].better}, so a bound with ${comparison} asks for a worse engine; ${forms}`,
    };
  const quantity = readQuantity(name, parts[2]!, parts[3]!, forms);
  return 'refused' in quantity ? quantity : { goal: { metric: name, comparison, ...quantity, written } };
}

type Quantity = { readonly value: number; readonly unit: string; readonly baseline?: string };

function readQuantity(
  name: MetricName,
  number: string,
  tail: string,
  forms: string,
): Quantity | { refused: string; suggestion?: string } {
  const value = Number(number);
  if (!(value > 0)) return { refused: `a bound above 0 is needed; ${forms}` };
  const relative = /^[xX×]\s*(?:of\s+)?(.*)$/.exec(tail);
  if (relative !== null) return readBaseline(value, relative[1]!, forms);
  const { unit } = metrics[name];
  if (unit === 'bytes') {
    const size = readSize(`${number}${tail}`);
    return 'bytes' in size ? { value: size.bytes, unit } : { refused: `${size.refused}; ${forms}` };
  }
  if (tail === '' || unitSpellings[unit].includes(tail)) return { value, unit };
  return { refused: `the unit "${showText(tail)}" is not that of ${name}, which is in ${unit}; ${forms}` };
}

function readBaseline(
  value: number,
  name: string,
  forms: string,
): Quantity | { refused: string; suggestion?: string } {
  const baseline = baselines.find((known) => known === name.toLowerCase());
  if (baseline !== undefined) return { value, unit: 'x', baseline };
  if (name === '') return { refused: `a baseline is missing after the x; ${forms}` };
  const near = nearestName(name, baselines);
  const refused = `the baseline "${showText(name)}" is not known, only ${baselines.join(', ')}; ${forms}`;
  return near === undefined ? { refused } : { refused, suggestion: `Did you mean ${near}?` };
}
