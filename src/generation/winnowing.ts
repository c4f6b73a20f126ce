import { createHash } from 'node:crypto';
import { tokenizeCpp } from '../model/cpp-tokens.ts';

/** Tokens of one gram: shorter matches are chance in any two C++ files. */
const gramLength = 12;
/** Every run of gramLength + windowLength − 1 equal tokens is found. */
const windowLength = 8;

/**
 * Fingerprints of a C++ text by winnowing (Schleimer, Wilkerson, Aiken 2003, Winnowing: Local Algorithms for Document
 * Fingerprinting): hashes of all runs of `gramLength` tokens, of which each window of `windowLength` keeps its least.
 * Comments, white space and preprocessor lines don't count; identifiers and numbers stay as they are.
 */
export function fingerprint(text: string): ReadonlySet<string> {
  const words = tokenizeCpp(text).map(({ text: word }) => word);
  const hashes = words
    .slice(0, Math.max(0, words.length - gramLength + 1))
    .map((_, at) => hashGram(words.slice(at, at + gramLength)));
  const kept = new Set<string>();
  for (let begin = 0; begin < Math.max(1, hashes.length - windowLength + 1); begin++) {
    const [least] = hashes.slice(begin, begin + windowLength).sort();
    if (least !== undefined) kept.add(least);
  }
  return kept;
}

function hashGram(words: readonly string[]): string {
  return createHash('sha256').update(words.join('\n')).digest('hex').slice(0, 16);
}

/**
 * Share of the first text's fingerprints that the second one has, 0 to 1; 0 for a text too short to have any. What
 * stands in `known` (a contract's header, that both had to begin from) counts for neither.
 */
export function similarity(text: string, reference: string, known = ''): number {
  const given = fingerprint(known);
  const own = [...fingerprint(text)].filter((hash) => !given.has(hash));
  const other = fingerprint(reference);
  return own.length === 0 ? 0 : own.filter((hash) => other.has(hash)).length / own.length;
}
