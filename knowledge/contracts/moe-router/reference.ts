import type { ExpertFacts } from '../../../src/model/model-facts.ts';
import type { ReferenceOps } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, tensor } from '../../../src/model/reference-case.ts';

/** Which experts each row goes through, best first, and how much each one counts. */
export interface Routing {
  /** [rows, perToken]. */
  readonly experts: Int32Array;
  readonly weights: Float64Array;
}

type Choice = Pick<ExpertFacts, 'count' | 'perToken' | 'isNormalised'>;

/** Softmax of each row of scores [rows, count], then the largest; of equal scores the one of the lowest index. */
export function route(scores: Float64Array, { count, perToken, isNormalised }: Choice): Routing {
  const rows = scores.length / count;
  const experts = new Int32Array(rows * perToken);
  const weights = new Float64Array(rows * perToken);
  for (let row = 0; row < rows; row++) {
    const own = scores.subarray(row * count, (row + 1) * count);
    const highest = Math.max(...own);
    const powers = own.map((score) => Math.exp(score - highest));
    const order = [...own.keys()].sort((a, b) => own[b]! - own[a]! || a - b).slice(0, perToken);
    const counted = isNormalised ? order.map((expert) => powers[expert]!) : [...powers];
    const total = counted.reduce((sum, power) => sum + power, 0);
    experts.set(order, row * perToken);
    weights.set(
      order.map((expert) => powers[expert]! / total),
      row * perToken,
    );
  }
  return { experts, weights };
}

export const ops: ReferenceOps = {
  route: (unit) => {
    const { experts: facts } = unit.facts;
    if (facts === undefined) throw new Error('a model without experts has nothing to route');
    const { experts, weights } = route(floatsOf(unit, 'scores'), facts);
    const shape = [inputOf(unit, 'scores').shape[0]!, facts.perToken];
    return { experts: tensor(shape, experts), weights: tensor(shape, weights) };
  },
};
