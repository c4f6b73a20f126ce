/** Figures are written in decimal; what is worked out again must agree this well. */
const agreement = 1e-6;

export function agree(left: number, right: number): boolean {
  return Math.abs(left - right) <= agreement * Math.max(Math.abs(left), Math.abs(right));
}
