import { tokenizeCpp } from './cpp-tokens.ts';

/** Tokens of one gram: shorter matches are chance in any two C++ files. */
const gramLength = 12;
/** Every run of gramLength + windowLength − 1 equal tokens is found. */
const windowLength = 8;

/**
 * Fingerprints of a C++ text by winnowing (Schleimer, Wilkerson, Aiken 2003, Winnowing: Local Algorithms for Document
 * Fingerprinting): hashes of all runs of `gramLength` tokens, of which each window of `windowLength` keeps its least.
 * Comments, white space and preprocessor lines don't count; identifiers and numbers stay as they are.
 */
export function fingerprint(text: string): ReadonlySet<number> {
  const words = tokenizeCpp(text).map(({ text: word }) => hashWord(word));
  const hashes = Array.from({ length: Math.max(0, words.length - gramLength + 1) }, (_, at) =>
    hashGram(words, at),
  );
  const kept = new Set<number>();
  const windows = hashes.length === 0 ? 0 : Math.max(1, hashes.length - windowLength + 1);
  for (let begin = 0; begin < windows; begin++) {
    kept.add(Math.min(...hashes.slice(begin, begin + windowLength)));
  }
  return kept;
}

/** FNV-1a over UTF-16 code units. */
function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < word.length; index++)
    hash = Math.imul(hash ^ word.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** 53 bits, so that two of a million grams rarely meet by chance. */
function hashGram(words: readonly number[], at: number): number {
  let [high, low] = [0x9e3779b9, 0x85ebca6b];
  for (let index = at; index < at + gramLength; index++) {
    high = Math.imul(high ^ words[index]!, 0x01000193);
    low = Math.imul(low, 0x5bd1e995) ^ words[index]!;
    low ^= low >>> 15;
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}

/**
 * Share of the first text's fingerprints that the second one has, 0 to 1; 0 for a text too short to have any. What
 * stands in `known` (a header that both had to begin from) counts for neither.
 */
export function similarity(text: string, reference: string, known = ''): number {
  return sharedPart(fingerprint(text), fingerprint(reference), fingerprint(known));
}

/** The same for texts that are compared many times. */
export function sharedPart(
  text: ReadonlySet<number>,
  reference: ReadonlySet<number>,
  known: ReadonlySet<number>,
): number {
  const own = [...text].filter((hash) => !known.has(hash));
  return own.length === 0 ? 0 : own.filter((hash) => reference.has(hash)).length / own.length;
}

/** Where two texts hold the same tokens, as 1-based lines of both, last lines included. */
export interface SharedSpan {
  readonly lines: readonly [first: number, last: number];
  readonly referenceLines: readonly [first: number, last: number];
  readonly tokens: number;
}

/** Runs of at least as many equal tokens as winnowing is sure to find, each once, longest first. */
export function listSharedSpans(text: string, reference: string): SharedSpan[] {
  const [own, other] = [tokenizeCpp(text), tokenizeCpp(reference)];
  const otherWords = other.map(({ text: word }) => hashWord(word));
  const ownWords = own.map(({ text: word }) => hashWord(word));
  const places = new Map<number, number>();
  for (let at = other.length - gramLength; at >= 0; at--) places.set(hashGram(otherWords, at), at);
  const spans: SharedSpan[] = [];
  for (let at = 0; at + gramLength <= own.length; at++) {
    const start = places.get(hashGram(ownWords, at));
    if (start === undefined) continue;
    let tokens = 0;
    while (
      at + tokens < own.length &&
      start + tokens < other.length &&
      own[at + tokens]!.text === other[start + tokens]!.text
    )
      tokens++;
    if (tokens < gramLength + windowLength - 1) continue;
    spans.push({
      lines: [own[at]!.line, own[at + tokens - 1]!.line],
      referenceLines: [other[start]!.line, other[start + tokens - 1]!.line],
      tokens,
    });
    at += tokens - 1;
  }
  return spans.sort((a, b) => b.tokens - a.tokens);
}
