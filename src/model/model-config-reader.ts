import type { Problem } from './problem.ts';

/** A JSON object whose values are read one key at a time; every fault is kept, so that one run shows them all. */
export interface ConfigReader {
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: Problem[];
  /** Path in front of each key, e.g. `rope_scaling.`. */
  readonly prefix: string;
  readonly file: string;
}

export interface NumberRule {
  readonly min: number;
  readonly max: number;
  readonly integer?: boolean;
  /** Used where the key is absent or null; without it the key is required. */
  readonly otherwise?: number;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Short JSON of any value, for messages. */
export function show(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

export function refuse(reader: ConfigReader, key: string, code: string, message: string): void {
  const path = `${reader.prefix}${key}`;
  reader.problems.push({ severity: 'error', code, file: reader.file, path, message });
}

export function warn(reader: ConfigReader, key: string, code: string, message: string): void {
  const path = `${reader.prefix}${key}`;
  reader.problems.push({ severity: 'warning', code, file: reader.file, path, message });
}

/** Own keys only: a key such as `__proto__` or `constructor` never reaches Object.prototype. */
export function ownValue(reader: ConfigReader, key: string): unknown {
  return Object.hasOwn(reader.values, key) ? reader.values[key] : undefined;
}

export function isAbsent(reader: ConfigReader, key: string): boolean {
  return ownValue(reader, key) === undefined || ownValue(reader, key) === null;
}

/** The number under `key`, or NaN after a problem was noted: every later check with NaN stays silent. */
export function readNumber(reader: ConfigReader, key: string, rule: NumberRule): number {
  const value = ownValue(reader, key);
  if (value === undefined || value === null) {
    if (rule.otherwise !== undefined) return rule.otherwise;
    refuse(reader, key, 'missing-key', `${key} is missing; expected ${describeRule(rule)}.`);
    return Number.NaN;
  }
  const isWhole = rule.integer !== true || Number.isInteger(value);
  if (typeof value === 'number' && isWhole && value >= rule.min && value <= rule.max) return value;
  const code = typeof value === 'number' ? 'out-of-range' : 'wrong-type';
  refuse(reader, key, code, `${key} is ${show(value)}; expected ${describeRule(rule)}.`);
  return Number.NaN;
}

function describeRule(rule: NumberRule): string {
  return `${rule.integer === true ? 'a whole number' : 'a number'} from ${rule.min} to ${rule.max}`;
}

export function readBoolean(reader: ConfigReader, key: string, otherwise: boolean): boolean {
  const value = ownValue(reader, key);
  if (value === undefined || value === null) return otherwise;
  if (typeof value === 'boolean') return value;
  refuse(reader, key, 'wrong-type', `${key} is ${show(value)}; expected true or false.`);
  return otherwise;
}
