import type { ReferenceOps } from '../../../src/model/reference.ts';
import { tensor } from '../../../src/model/reference-case.ts';

/** 1 letter (L*), 2 number (N*), 4 White_Space; 0 none of them. */
export function classOf(codePoint: number): number {
  const character = String.fromCodePoint(codePoint);
  if (/\p{L}/u.test(character)) return 1;
  if (/\p{N}/u.test(character)) return 2;
  return /\p{White_Space}/u.test(character) ? 4 : 0;
}

/**
 * Whether this Node's Unicode data can decide a code point: one that it doesn't know yet may have a class by now. (A
 * newer Node than the tables' Unicode version would report assignments that they lack; regenerate them then.)
 */
export function isAssigned(codePoint: number): boolean {
  return /\P{Cn}/u.test(String.fromCodePoint(codePoint));
}

export const ops: ReferenceOps = {
  /** Classes of `count` code points from `first` on; unassigned ones count as 0. */
  classes: (unit) => {
    const first = Number(unit.params.first);
    const classes = Int32Array.from({ length: Number(unit.params.count) }, (_, index) =>
      classOf(first + index),
    );
    return { classes: tensor([classes.length], classes) };
  },
};
