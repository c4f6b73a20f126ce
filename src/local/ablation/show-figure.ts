import { grouped, short } from '../../model/show-number.ts';
import type { Figure } from './figures.ts';
import type { Spread } from './spread.ts';

/** A value with its unit, three significant digits; whole counts as they are. */
export function showValue(value: number, unit: Figure['unit']): string {
  if (unit === 'share') return `${(100 * value).toFixed(1)} %`;
  if (unit === 'usd') return `$${value >= 1 || value === 0 ? value.toFixed(2) : value.toPrecision(2)}`;
  const shown = value === 0 ? '0' : Number.isInteger(value) ? grouped(value) : short(value);
  return unit === 's' ? `${shown} s` : shown;
}

/** Median, and the range where there is more than one value. */
export function showSpread({ median, low, high, n }: Spread, unit: Figure['unit']): string {
  if (n === 1) return showValue(median, unit);
  const range = low === high ? 'all alike' : `${showValue(low, unit)} to ${showValue(high, unit)}`;
  return `${showValue(median, unit)} (${range})`;
}
