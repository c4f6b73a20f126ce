import {
  type ConfigReader,
  isAbsent,
  isRecord,
  ownValue,
  readBoolean,
  readNumber,
  refuse,
  show,
  warn,
} from './model-config-reader.ts';
import type { RopeScaling } from './model-facts.ts';

const allowedKeys: Readonly<Record<string, readonly string[]>> = {
  default: [],
  linear: ['factor'],
  llama3: ['factor', 'low_freq_factor', 'high_freq_factor', 'original_max_position_embeddings'],
  yarn: [
    'factor',
    'attention_factor',
    'beta_fast',
    'beta_slow',
    'finetuned',
    'mscale',
    'mscale_all_dim',
    'original_max_position_embeddings',
    'truncate',
  ],
};
const factorRule = { min: 1, max: 1_000_000 };
const positionsRule = { min: 1, max: 2 ** 31 - 1, integer: true };

export interface Rope {
  readonly theta: number;
  readonly scaling: RopeScaling;
}

/**
 * Rotary settings of both layouts: transformers 4.x (`rope_theta` beside `rope_scaling`, type under `type` or
 * `rope_type`) and 5.x (`rope_parameters` holding all of it). Source: transformers 5 modeling_rope_utils.py,
 * `standardize_rope_params` and `_compute_*_parameters`. `otherwise` is the base where a file names none.
 */
export function readRope(reader: ConfigReader, maxPositions: number, otherwise: number): Rope {
  const key = pickDictionary(reader);
  const outerTheta = readNumber(reader, 'rope_theta', thetaRule(otherwise));
  const value = key === undefined ? undefined : ownValue(reader, key);
  if (key === undefined || !isRecord(value)) return { theta: outerTheta, scaling: { kind: 'none' } };
  const inner: ConfigReader = { ...reader, values: value, prefix: `${reader.prefix}${key}.` };
  const theta = readNumber(inner, 'rope_theta', thetaRule(outerTheta));
  if (
    !isAbsent(reader, 'rope_theta') &&
    theta !== outerTheta &&
    !Number.isNaN(theta) &&
    !Number.isNaN(outerTheta)
  ) {
    refuse(reader, 'rope_theta', 'contradiction', `rope_theta is ${outerTheta} here and ${theta} in ${key}.`);
  }
  return { theta, scaling: readScaling(reader, inner, maxPositions) };
}

function thetaRule(otherwise: number): { min: number; max: number; otherwise: number } {
  return { min: 1.000_001, max: 1e15, otherwise };
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && !(isRecord(value) && Object.keys(value).length === 0);
}

function pickDictionary(reader: ConfigReader): string | undefined {
  const present = ['rope_scaling', 'rope_parameters'].filter((key) => isFilled(ownValue(reader, key)));
  for (const key of present) {
    if (!isRecord(ownValue(reader, key))) {
      refuse(
        reader,
        key,
        'wrong-type',
        `${key} is ${show(ownValue(reader, key))}; expected an object or null.`,
      );
    }
  }
  if (
    present.length === 2 &&
    JSON.stringify(ownValue(reader, present[0]!)) !== JSON.stringify(ownValue(reader, present[1]!))
  ) {
    refuse(
      reader,
      'rope_scaling',
      'contradiction',
      'rope_scaling and rope_parameters are both given and differ.',
    );
  }
  return present[0];
}

function readScaling(outer: ConfigReader, inner: ConfigReader, maxPositions: number): RopeScaling {
  const none: RopeScaling = { kind: 'none' };
  const kind = readKind(inner);
  if (kind === undefined) return none;
  refuseOtherKeys(inner, kind);
  if (kind === 'default') return none;
  if (kind === 'linear') return { kind, factor: readNumber(inner, 'factor', factorRule) };
  return kind === 'llama3' ? readLlama3(outer, inner) : readYarn(outer, inner, maxPositions);
}

function readKind(inner: ConfigReader): string | undefined {
  const [modern, legacy] = [ownValue(inner, 'rope_type'), ownValue(inner, 'type')];
  if (modern !== undefined && legacy !== undefined && modern !== legacy) {
    refuse(inner, 'type', 'contradiction', `type ${show(legacy)} and rope_type ${show(modern)} differ.`);
    return undefined;
  }
  const key = modern === undefined ? 'type' : 'rope_type';
  const value = modern ?? legacy;
  const isNested = Object.values(inner.values).some(isRecord);
  if (isNested) {
    refuse(
      inner,
      Object.keys(inner.values).find((name) => isRecord(inner.values[name])) ?? key,
      'not-implemented',
      'rotary settings per layer type are not implemented.',
    );
    return undefined;
  }
  if (value === undefined) return 'default';
  if (typeof value === 'string' && Object.hasOwn(allowedKeys, value)) return value;
  const known = Object.keys(allowedKeys).join(', ');
  refuse(
    inner,
    key,
    'not-implemented',
    `${key} ${show(value)} is not implemented; expected one of ${known}.`,
  );
  return undefined;
}

function refuseOtherKeys(inner: ConfigReader, kind: string): void {
  const allowed = new Set(['rope_type', 'type', 'rope_theta', ...(allowedKeys[kind] ?? [])]);
  for (const [key, value] of Object.entries(inner.values)) {
    const isOff = value === null || ((key === 'factor' || key === 'partial_rotary_factor') && value === 1);
    if (allowed.has(key) || isOff) continue;
    refuse(
      inner,
      key,
      'not-implemented',
      `${key} ${show(value)} is not implemented for rotary type ${kind}.`,
    );
  }
}

/** `original_max_position_embeddings` may stand in the dictionary or, as Phi-3 has it, beside it. */
function readOriginal(outer: ConfigReader, inner: ConfigReader, otherwise: number | undefined): number {
  const key = 'original_max_position_embeddings';
  const beside = isAbsent(outer, key) ? undefined : readNumber(outer, key, positionsRule);
  const rest = beside ?? otherwise;
  const inside = readNumber(
    inner,
    key,
    rest === undefined ? positionsRule : { ...positionsRule, otherwise: rest },
  );
  if (beside !== undefined && !Number.isNaN(beside) && !Number.isNaN(inside) && inside !== beside) {
    refuse(
      outer,
      key,
      'contradiction',
      `${key} is ${beside} here and ${inside} in ${inner.prefix.slice(0, -1)}.`,
    );
  }
  return inside;
}

function readLlama3(outer: ConfigReader, inner: ConfigReader): RopeScaling {
  const factor = readNumber(inner, 'factor', factorRule);
  const lowFreqFactor = readNumber(inner, 'low_freq_factor', { min: 1e-6, max: 1e6 });
  const highFreqFactor = readNumber(inner, 'high_freq_factor', { min: 1e-6, max: 1e6 });
  const originalMaxPositions = readOriginal(outer, inner, undefined);
  if (highFreqFactor <= lowFreqFactor) {
    const message = `high_freq_factor is ${highFreqFactor}; expected more than low_freq_factor, ${lowFreqFactor}.`;
    refuse(inner, 'high_freq_factor', 'out-of-range', message);
  }
  return { kind: 'llama3', factor, lowFreqFactor, highFreqFactor, originalMaxPositions };
}

function readYarn(outer: ConfigReader, inner: ConfigReader, maxPositions: number): RopeScaling {
  const originalMaxPositions = readOriginal(outer, inner, maxPositions);
  const ratio = maxPositions / originalMaxPositions;
  // transformers 5: an explicit factor wins over max/original; only a null one is derived from it.
  const factor = readNumber(
    inner,
    'factor',
    ownValue(inner, 'factor') === null ? { ...factorRule, otherwise: ratio } : factorRule,
  );
  if (factor < 1)
    refuse(inner, 'factor', 'out-of-range', `factor is derived as ${factor}; expected at least 1.`);
  if (ratio !== 1 && Number.isFinite(ratio) && Number.isFinite(factor) && ratio !== factor) {
    const message = `factor ${factor} is used, though max_position_embeddings / original is ${ratio}.`;
    warn(inner, 'factor', 'factor-mismatch', message);
  }
  // `or 32`, `or 1` in transformers: zero counts as absent.
  const betaFast = readNumber(inner, 'beta_fast', { min: 0, max: 1e6, otherwise: 32 }) || 32;
  const betaSlow = readNumber(inner, 'beta_slow', { min: 0, max: 1e6, otherwise: 1 }) || 1;
  if (betaFast < betaSlow) {
    refuse(
      inner,
      'beta_fast',
      'out-of-range',
      `beta_fast is ${betaFast}; expected at least beta_slow, ${betaSlow}.`,
    );
  }
  const attentionFactor = readAttentionFactor(inner, factor);
  const truncate = readBoolean(inner, 'truncate', true);
  return { kind: 'yarn', factor, betaFast, betaSlow, originalMaxPositions, attentionFactor, truncate };
}

function readAttentionFactor(inner: ConfigReader, factor: number): number {
  const mscale = readNumber(inner, 'mscale', { min: 0, max: 1e3, otherwise: 0 });
  const mscaleAllDim = readNumber(inner, 'mscale_all_dim', { min: 0, max: 1e3, otherwise: 0 });
  const magnitude = (scale: number) => (factor <= 1 ? 1 : 0.1 * scale * Math.log(factor) + 1);
  const derived =
    mscale !== 0 && mscaleAllDim !== 0 ? magnitude(mscale) / magnitude(mscaleAllDim) : magnitude(1);
  return readNumber(inner, 'attention_factor', { min: 1e-6, max: 1e3, otherwise: derived });
}
