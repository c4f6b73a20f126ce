import type { ReferenceCase, ReferenceOps, Tensor } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, matrixOf, tensor } from '../../../src/model/reference-case.ts';
import { add } from '../attention-block/reference.ts';
import { linear } from '../linear-dense/reference.ts';
import { rmsNormRows } from '../norm-rms/reference.ts';

/** silu(gate) · up with silu(z) = z / (1 + e^-z), element by element. */
export function gateUp(gate: Float64Array, up: Float64Array): Float64Array {
  return gate.map((value, index) => (value / (1 + Math.exp(-value))) * up[index]!);
}

function mlpBlock(unit: ReferenceCase): Readonly<Record<string, Tensor>> {
  const { hiddenSize, intermediateSize, rmsNormEps } = unit.facts;
  const hidden = floatsOf(unit, 'hidden');
  const normed = rmsNormRows(hidden, floatsOf(unit, 'post_attention_layernorm'), rmsNormEps);
  const project = (name: string) => linear(normed, matrixOf(unit, name), hiddenSize);
  const inner = gateUp(project('gate_proj'), project('up_proj'));
  const output = linear(inner, matrixOf(unit, 'down_proj'), intermediateSize);
  return { hidden: tensor(inputOf(unit, 'hidden').shape, add(hidden, output)) };
}

export const ops: ReferenceOps = { mlp_block: mlpBlock };
