import type { ReferenceOps } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, matrixOf, tensor } from '../../../src/model/reference-case.ts';
import { softCap } from '../attention-core/reference.ts';
import { linear } from '../linear-dense/reference.ts';

export const ops: ReferenceOps = {
  logits: (unit) => {
    const { tiedHead, gemma } = unit.facts;
    if (gemma === undefined) throw new Error('a model without a cap has no capped head');
    const name = tiedHead ? 'table' : 'weight';
    const { shape } = inputOf(unit, 'x');
    const products = linear(floatsOf(unit, 'x'), matrixOf(unit, name), shape[1]!);
    const logits = products.map((value) => softCap(value, gemma.finalCap));
    return { logits: tensor([shape[0]!, inputOf(unit, name).shape[0]!], logits) };
  },
};
