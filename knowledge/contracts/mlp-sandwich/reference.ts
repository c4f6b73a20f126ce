import type { ReferenceCase, ReferenceOps, Tensor } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, matrixOf, tensor } from '../../../src/model/reference-case.ts';
import { add } from '../attention-block/reference.ts';
import { linear } from '../linear-dense/reference.ts';
import { gainOf, rmsNormRows } from '../norm-rms/reference.ts';

/** gelu(gate) · up with the tanh form: gelu(z) = z/2 · (1 + tanh(√(2/π) · (z + 0.044715 z³))). */
export function geluUp(gate: Float64Array, up: Float64Array): Float64Array {
  const inner = (z: number) => Math.sqrt(2 / Math.PI) * (z + 0.044715 * z ** 3);
  return gate.map((value, index) => (value / 2) * (1 + Math.tanh(inner(value))) * up[index]!);
}

function mlpBlock(unit: ReferenceCase): Readonly<Record<string, Tensor>> {
  const { facts } = unit;
  const hidden = floatsOf(unit, 'hidden');
  const norm = (x: Float64Array, name: string) =>
    rmsNormRows(x, gainOf(floatsOf(unit, name), facts), facts.rmsNormEps);
  const normed = norm(hidden, 'pre_feedforward_layernorm');
  const project = (name: string) => linear(normed, matrixOf(unit, name), facts.hiddenSize);
  const inner = geluUp(project('gate_proj'), project('up_proj'));
  const output = linear(inner, matrixOf(unit, 'down_proj'), facts.intermediateSize);
  const after = norm(output, 'post_feedforward_layernorm');
  return { hidden: tensor(inputOf(unit, 'hidden').shape, add(hidden, after)) };
}

export const ops: ReferenceOps = { mlp_block: mlpBlock };
