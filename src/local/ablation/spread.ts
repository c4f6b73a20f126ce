/** Values of one figure over the repeats of a run. */
export interface Spread {
  readonly n: number;
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly values: readonly number[];
}

function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
}

/** Median and range; undefined without a value. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  return {
    n: sorted.length,
    median: medianOf(sorted),
    low: sorted[0]!,
    high: sorted.at(-1)!,
    values: [...values],
  };
}

/** By what factor the values of one series differ from those of another. */
export interface Ratio {
  /** Median of all quotients (Hodges-Lehmann on the logarithms). */
  readonly ratio: number;
  /** Exact interval of at least 95 %; null where there are too few runs for one. */
  readonly interval: readonly [number, number] | null;
}

/**
 * Ratio of two independent series by ranks, no distribution assumed: the interval is the one that the Mann-Whitney test
 * belongs to (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, §4.2-4.3). Four runs on each side are the
 * fewest with an interval of 95 %. Undefined where a quotient is (a divisor of 0, or no runs).
 */
export function compareSeries(
  numerators: readonly number[],
  denominators: readonly number[],
): Ratio | undefined {
  if (numerators.length === 0 || denominators.length === 0 || denominators.some((value) => value <= 0)) {
    return undefined;
  }
  const quotients = numerators
    .flatMap((above) => denominators.map((below) => above / below))
    .sort((a, b) => a - b);
  const cut = rankCut(numerators.length, denominators.length, 0.025);
  const interval = cut === 0 ? null : ([quotients[cut - 1]!, quotients[quotients.length - cut]!] as const);
  return { ratio: medianOf(quotients), interval };
}

/** Largest k with P(U ≤ k − 1) ≤ tail for the Mann-Whitney statistic of samples without a difference; 0 if there is none. */
function rankCut(n: number, m: number, tail: number): number {
  const ways = countArrangements(n, m);
  const all = ways.reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (const [statistic, count] of ways.entries()) {
    below += count;
    if (below / all > tail) return statistic;
  }
  return 0;
}

/** Entry u: in how many orders of n and m values the statistic is u, the coefficients of the Gaussian binomial. */
function countArrangements(n: number, m: number): number[] {
  let rows = Array.from({ length: m + 1 }, () => [1]);
  for (let i = 1; i <= n; i++) {
    const next: number[][] = [[1]];
    for (let j = 1; j <= m; j++) {
      const ways = new Array<number>(i * j + 1).fill(0);
      // The largest value is of the second series and above nothing new, or of the first and above all j of the second.
      for (const [u, count] of next[j - 1]!.entries()) ways[u]! += count;
      for (const [u, count] of rows[j]!.entries()) ways[u + j]! += count;
      next.push(ways);
    }
    rows = next;
  }
  return rows[m]!;
}
