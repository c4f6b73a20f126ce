import type { ReferenceOps } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, tensor } from '../../../src/model/reference-case.ts';
import { rmsNormRows } from '../norm-rms/reference.ts';

/** Stored gains are 1 less than what they mean. */
export const ops: ReferenceOps = {
  rms_norm: (unit) => {
    const gain = floatsOf(unit, 'gain').map((stored) => 1 + stored);
    const out = rmsNormRows(floatsOf(unit, 'x'), gain, unit.facts.rmsNormEps);
    return { out: tensor(inputOf(unit, 'x').shape, out) };
  },
};
