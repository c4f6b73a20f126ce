import type { ReferenceOps } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, matrixOf, tensor } from '../../../src/model/reference-case.ts';
import { linear } from '../linear-dense/reference.ts';

export const ops: ReferenceOps = {
  logits: (unit) => {
    const name = unit.facts.tiedHead ? 'table' : 'weight';
    const { shape } = inputOf(unit, 'x');
    const logits = linear(floatsOf(unit, 'x'), matrixOf(unit, name), shape[1]!);
    return { logits: tensor([shape[0]!, inputOf(unit, name).shape[0]!], logits) };
  },
};
