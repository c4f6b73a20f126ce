import { createHash } from 'node:crypto';
import type { Constraints } from '../model/constraints.ts';

/** JSON with sorted keys and no spaces: one text for one meaning. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, child]) => child !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, child]) => `${JSON.stringify(key)}:${canonicalJson(child)}`).join(',')}}`;
}

/**
 * Decides whether an edit is a change: SHA-256 over the meaning, so that line ends, comments, the order of keys,
 * defaults written out and the spelling of a goal (`<=900ms`, `<= 900`) do not matter.
 */
export function hashConstraints(constraints: Constraints): string {
  const goals = constraints.goals.require
    .map(({ written: _, ...meaning }) => meaning)
    .sort((a, b) => (a.metric < b.metric ? -1 : 1));
  const meaning = { ...constraints, goals: { ...constraints.goals, require: goals } };
  return createHash('sha256').update(canonicalJson(meaning)).digest('hex');
}
