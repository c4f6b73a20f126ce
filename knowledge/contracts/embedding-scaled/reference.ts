import type { ReferenceOps } from '../../../src/model/reference.ts';
import { inputOf, matrixOf, tensor } from '../../../src/model/reference-case.ts';
import { pickRows } from '../linear-dense/reference.ts';

export const ops: ReferenceOps = {
  embed: (unit) => {
    const ids = inputOf(unit, 'ids');
    const width = inputOf(unit, 'table').shape[1]!;
    const scale = unit.facts.gemma?.embeddingScale ?? 1;
    const rows = pickRows(matrixOf(unit, 'table'), width, ids.data).map((value) => value * scale);
    return { out: tensor([ids.shape[0]!, width], rows) };
  },
};
