import type { Problem } from '../../model/problem.ts';
import { listSharedSpans, similarity } from '../../model/winnowing.ts';
import { changedRealizations, type KnowledgeChange, realizationPath } from './knowledge-side.ts';

/** A file of a tree that realizations must not be copied from. */
export interface ReferenceFile {
  /** As people know it: `llama.cpp/ggml/src/ggml.c`. */
  readonly name: string;
  readonly text: string;
}

/** Share of a file's fingerprints that stand in one reference file. Chance and idiom stay below 0.1. */
const copiedShare = 0.25;
/** Two realizations of one contract share an interface and a way of working; the same code twice shares all of it. */
const repeatedShare = 0.98;

/** New realizations are written from the contract: they resemble neither a reference tree nor one that is here already. */
export function checkSimilarity(change: KnowledgeChange, references: readonly ReferenceFile[]): Problem[] {
  return changedRealizations(change).flatMap(({ loaded, realization, file }) => {
    const header = loaded.contract.header.text;
    const siblings = loaded.contract.realizations.filter((other) => other.file !== realization.file);
    return [
      ...siblings.flatMap((other) => {
        const share = similarity(realization.text, other.text, header);
        if (share < repeatedShare || isOlder(realization.file, other.file, change, loaded)) return [];
        const rival = { name: realizationPath(loaded, other.file), text: other.text };
        return [describe(file, realization.text, rival, share, 'repeated-realization')];
      }),
      ...references.flatMap((reference) => {
        const share = similarity(realization.text, reference.text, header);
        return share < copiedShare
          ? []
          : [describe(file, realization.text, reference, share, 'copied-realization')];
      }),
    ];
  });
}

/** Of two new files that are the same one is told: the later by name. */
function isOlder(
  file: string,
  other: string,
  { before }: KnowledgeChange,
  loaded: Parameters<typeof realizationPath>[0],
): boolean {
  return !before.tree.has(realizationPath(loaded, other)) && file < other;
}

function describe(
  file: string,
  text: string,
  reference: ReferenceFile,
  share: number,
  code: 'repeated-realization' | 'copied-realization',
): Problem {
  const spans = listSharedSpans(text, reference.text);
  const shown = spans
    .slice(0, 3)
    .map(
      ({ lines, referenceLines, tokens }) =>
        `lines ${lines.join('–')} are ${reference.name}:${referenceLines.join('–')} (${tokens} tokens)`,
    );
  const message = `${Math.round(share * 100)} % of this file stands in ${reference.name}: ${shown.join('; ')}`;
  const suggestion =
    code === 'repeated-realization'
      ? 'Widen the `applies` of the file that is there.'
      : 'Write it from the contract.';
  return { severity: 'error', code, file, line: spans[0]?.lines[0] ?? 1, message, suggestion };
}
