/** What knowledge lacks for one request, and the shortest way to have it. */
export interface KnowledgeGap {
  /** Everything that is not filled: contract (or config.json key) and why. */
  readonly missing: readonly { readonly contract: string; readonly reason: string }[];
  /** With these written, nothing would be missing; none of them can be left out. */
  readonly smallest: readonly GapPart[];
  /** Covered targets with the fewest differing values, nearest first. */
  readonly similar: readonly { readonly name: string; readonly differs: readonly string[] }[];
  /** What a contributor would do, in order: commands and files. `code` in backticks. */
  readonly write: readonly string[];
}

export interface GapPart {
  readonly contract: string;
  /** A contract that isn't there, one whose applies_when is too narrow, or code for one that is there. */
  readonly need: 'new contract' | 'wider contract' | 'realization';
  readonly says: string;
}

const shownSimilar = 2;

/** One line each, for a list: what would cover it, what is near, what to write. Empty where there is nothing to say. */
export function describeGap({ smallest, similar, write }: KnowledgeGap): readonly string[] {
  const realizations = smallest.filter(({ need }) => need === 'realization').map(({ contract }) => contract);
  const others = smallest.filter(({ need }) => need !== 'realization').map(({ says }) => says);
  const code = realizations.length === 0 ? [] : [`code for ${realizations.join(', ')}`];
  const near = similar
    .slice(0, shownSimilar)
    .map(({ name, differs }) => `${name}${differs.length === 0 ? '' : ` (${differs.join(', ')})`}`);
  return [
    ...(smallest.length === 0 ? [] : [`The least that would cover it: ${[...others, ...code].join('; ')}.`]),
    ...(near.length === 0 ? [] : [`Covered already, and near: ${near.join('; ')}.`]),
    ...write.map((line) => `To write: ${line}`),
  ];
}
