import type { ExpertFacts } from '../../../src/model/model-facts.ts';
import type { ReferenceCase, ReferenceOps, Tensor } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, matrixOf, tensor } from '../../../src/model/reference-case.ts';
import { add } from '../attention-block/reference.ts';
import { linear } from '../linear-dense/reference.ts';
import { gateUp } from '../mlp-gated/reference.ts';
import { type Routing, route } from '../moe-router/reference.ts';
import { rmsNormRows } from '../norm-rms/reference.ts';

/** The rows that chose an expert, with how much it counts for each. */
export interface Share {
  readonly rows: readonly number[];
  readonly weights: readonly number[];
}

export function shareOf({ experts, weights }: Routing, expert: number, perToken: number): Share {
  const places = [...experts.keys()].filter((place) => experts[place] === expert);
  return {
    rows: places.map((place) => Math.floor(place / perToken)),
    weights: places.map((place) => weights[place]!),
  };
}

/** Rows of x [.., width] one below the other. */
export function gatherRows(x: Float64Array, width: number, rows: readonly number[]): Float64Array {
  const out = new Float64Array(rows.length * width);
  for (const [index, row] of rows.entries())
    out.set(x.subarray(row * width, (row + 1) * width), index * width);
  return out;
}

/** out[rows[i]] += weights[i] · made[i]. */
export function addWeighted(out: Float64Array, made: Float64Array, width: number, share: Share): void {
  for (const [index, row] of share.rows.entries())
    for (let i = 0; i < width; i++)
      out[row * width + i] = out[row * width + i]! + share.weights[index]! * made[index * width + i]!;
}

/** Every row, counted by the sigmoid of its gate [rows]. */
export function sharedShare(gate: Float64Array): Share {
  return { rows: [...gate.keys()], weights: Array.from(gate, (value) => 1 / (1 + Math.exp(-value))) };
}

type Names = readonly [string, string, string];

function mlpBlock(unit: ReferenceCase): Readonly<Record<string, Tensor>> {
  const { hiddenSize, intermediateSize, rmsNormEps, experts } = unit.facts;
  const hidden = floatsOf(unit, 'hidden');
  const normed = rmsNormRows(hidden, floatsOf(unit, 'post_attention_layernorm'), rmsNormEps);
  const dense: Names = ['gate_proj', 'up_proj', 'down_proj'];
  const hasExperts = experts?.layers[Number(unit.params.layer)] === true;
  const made = hasExperts
    ? mixExperts(unit, normed, experts)
    : runMlp(
        normed,
        dense.map((name) => matrixOf(unit, name)),
        hiddenSize,
        intermediateSize,
      );
  return { hidden: tensor(inputOf(unit, 'hidden').shape, add(hidden, made)) };
}

function mixExperts(unit: ReferenceCase, normed: Float64Array, experts: ExpertFacts): Float64Array {
  const width = unit.facts.hiddenSize;
  const routing = route(linear(normed, matrixOf(unit, 'router'), width), experts);
  const stacked = ['expert_gate', 'expert_up', 'expert_down'].map((name) => matrixOf(unit, name));
  const size = experts.width * width;
  const out = new Float64Array(normed.length);
  for (let expert = 0; expert < experts.count; expert++) {
    const share = shareOf(routing, expert, experts.perToken);
    const own = stacked.map((matrix) => matrix.subarray(expert * size, (expert + 1) * size));
    addWeighted(out, runMlp(gatherRows(normed, width, share.rows), own, width, experts.width), width, share);
  }
  if (experts.sharedWidth === 0) return out;
  const shared = ['shared_gate_proj', 'shared_up_proj', 'shared_down_proj'].map((name) =>
    matrixOf(unit, name),
  );
  const gate = linear(normed, matrixOf(unit, 'shared_expert_gate'), width);
  addWeighted(out, runMlp(normed, shared, width, experts.sharedWidth), width, sharedShare(gate));
  return out;
}

function runMlp(
  x: Float64Array,
  matrices: readonly Float64Array[],
  width: number,
  inner: number,
): Float64Array {
  const [gate, up, down] = matrices;
  return linear(gateUp(linear(x, gate!, width), linear(x, up!, width)), down!, inner);
}

export const ops: ReferenceOps = { mlp_block: mlpBlock };
