import type { ReferenceCase, ReferenceOps, Tensor } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, matrixOf, tensor } from '../../../src/model/reference-case.ts';
import { add, attendProjected } from '../attention-block/reference.ts';
import { linear } from '../linear-dense/reference.ts';
import { gainOf, rmsNormRows } from '../norm-rms/reference.ts';
import { ropeFrequencies } from '../position-rope-frequencies/reference.ts';

function attentionBlock(unit: ReferenceCase): Readonly<Record<string, Tensor>> {
  const { facts } = unit;
  const hidden = floatsOf(unit, 'hidden');
  const norm = (x: Float64Array, name: string) =>
    rmsNormRows(x, gainOf(floatsOf(unit, name), facts), facts.rmsNormEps);
  const normed = norm(hidden, 'input_layernorm');
  const project = (name: string) => linear(normed, matrixOf(unit, name), facts.hiddenSize);
  const projected = { q: project('q_proj'), k: project('k_proj'), v: project('v_proj') };
  const positions = inputOf(unit, 'positions').data;
  const layer = Number(unit.params.layer);
  const mixed = attendProjected(projected, {}, positions, layer, facts, ropeFrequencies(facts));
  const output = linear(mixed, matrixOf(unit, 'o_proj'), facts.numHeads * facts.headDim);
  const after = norm(output, 'post_attention_layernorm');
  return { hidden: tensor(inputOf(unit, 'hidden').shape, add(hidden, after)) };
}

export const ops: ReferenceOps = { attention_block: attentionBlock };
