import type { ReferenceOps } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, tensor } from '../../../src/model/reference-case.ts';
import { attend } from '../attention-core/reference.ts';

/** attend scales and caps the scores where the model's facts say so. */
export const ops: ReferenceOps = {
  attention: (unit) => {
    if (unit.facts.gemma === undefined) throw new Error('a model without a cap has no capped attention');
    const window = unit.facts.layerWindows[Number(unit.params.layer)] ?? 0;
    const [q, k, v] = [floatsOf(unit, 'q'), floatsOf(unit, 'k'), floatsOf(unit, 'v')];
    const out = attend(q, k, v, inputOf(unit, 'positions').data, window, unit.facts);
    return { out: tensor(inputOf(unit, 'q').shape, out) };
  },
};
