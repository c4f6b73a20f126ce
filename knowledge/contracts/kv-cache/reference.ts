import type { ReferenceCase, ReferenceOps, Tensor } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, tensor } from '../../../src/model/reference-case.ts';

/** What a slot and position hold after all rows were appended in order: the last row written there. */
export function lastWritten(
  values: Float64Array,
  slots: ArrayLike<number>,
  positions: ArrayLike<number>,
): Float64Array {
  const width = values.length / slots.length;
  const held = new Map<string, Float64Array>();
  const place = (row: number) => `${slots[row]}:${positions[row]}`;
  for (let row = 0; row < slots.length; row++)
    held.set(place(row), values.subarray(row * width, (row + 1) * width));
  const out = new Float64Array(values.length);
  for (let row = 0; row < slots.length; row++) out.set(held.get(place(row))!, row * width);
  return out;
}

function appendRead(unit: ReferenceCase): Readonly<Record<string, Tensor>> {
  const [slots, positions] = [inputOf(unit, 'slots').data, inputOf(unit, 'positions').data];
  return {
    keys: tensor(inputOf(unit, 'k').shape, lastWritten(floatsOf(unit, 'k'), slots, positions)),
    values: tensor(inputOf(unit, 'v').shape, lastWritten(floatsOf(unit, 'v'), slots, positions)),
  };
}

export const ops: ReferenceOps = { append_read: appendRead };
