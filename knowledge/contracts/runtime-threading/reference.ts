import type { ReferenceOps } from '../../../src/model/reference.ts';
import { inputOf, tensor } from '../../../src/model/reference-case.ts';

export const ops: ReferenceOps = {
  /** Each index is visited once in each of `rounds` loops; the sum of one loop does not depend on the threads. */
  sum_threads: (unit) => {
    const { shape, data } = inputOf(unit, 'values');
    const total = Array.from(data).reduce((sum, value) => sum + value, 0);
    return {
      total: tensor([1], Int32Array.of(total)),
      counts: tensor(shape, new Int32Array(data.length).fill(Number(unit.params.rounds))),
    };
  },
};
