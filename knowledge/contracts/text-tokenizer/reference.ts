import { AppError } from '../../../src/model/errors.ts';
import type { TokenizerFacts } from '../../../src/model/model-facts.ts';
import { formatProblem } from '../../../src/model/problem.ts';
import { readTokenizerFacts } from '../../../src/model/tokenizer-config.ts';
import { byteToken, isObject, recognisePrefix, spaceMark } from '../../../src/model/tokenizer-parts.ts';
import { mergeSymbols, type ReferenceBpe, readBpe, splitAdded } from '../text-bpe/reference.ts';
import { normalizeText } from '../text-normalizer/reference.ts';
import { splitPieces } from '../text-pre-tokenizer/reference.ts';

export interface EncodeOptions {
  readonly addSpecial: boolean;
  /** Whether special tokens written out in the text become their ids. */
  readonly parseSpecial: boolean;
}

export interface ReferenceTokenizer {
  readonly encode: (text: string, options: EncodeOptions) => number[];
  readonly decode: (ids: readonly number[], options: { readonly skipSpecial: boolean }) => string;
}

/** tokenizerJson: the parsed file. Throws TOKENIZER_UNSUPPORTED with every part that isn't implemented. */
export function loadReferenceTokenizer(tokenizerJson: unknown): ReferenceTokenizer {
  const { facts, problems } = readTokenizerFacts(tokenizerJson);
  if (facts === undefined || facts.model === 'none') {
    const reasons = problems.map(formatProblem).join('\n');
    throw new AppError('TOKENIZER_UNSUPPORTED', reasons === '' ? 'There is no tokenizer.json.' : reasons);
  }
  const json = tokenizerJson as Readonly<Record<string, unknown>>;
  return facts.model === 'byte_level_bpe' ? byteLevelTokenizer(json, facts) : sentencePieceTokenizer(json);
}

/** What differs between the two kinds: text to normalized text, and normalized text to tokens. */
interface Stages {
  readonly normalize: (text: string) => string;
  readonly tokenize: (text: string, isFirst: boolean) => readonly string[];
}

function encodeWith(bpe: ReferenceBpe, stages: Stages, text: string, options: EncodeOptions): number[] {
  const added = bpe.normalized.map((token) => ({ ...token, content: stages.normalize(token.content) }));
  const ids = splitAdded(bpe.raw, text, options.parseSpecial).flatMap((outer) =>
    outer.id !== undefined
      ? [outer.id]
      : splitAdded(added, stages.normalize(outer.text), options.parseSpecial).flatMap((inner) =>
          inner.id !== undefined
            ? [inner.id]
            : stages
                .tokenize(inner.text, outer.start === 0 && inner.start === 0)
                .map((token) => bpe.vocab.get(token)!),
        ),
  );
  return options.addSpecial ? [...bpe.before, ...ids, ...bpe.after] : ids;
}

function keptTokens(bpe: ReferenceBpe, ids: readonly number[], skipSpecial: boolean): string[] {
  return ids
    .filter((id) => !(skipSpecial && bpe.specialIds.has(id)))
    .flatMap((id) => bpe.tokens.get(id) ?? []);
}

/** Byte → the character that stands for it in a byte-level vocabulary. */
function byteAlphabet(): string[] {
  const printable = /[!-~\u00a1-\u00ac\u00ae-\u00ff]/;
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const character = String.fromCharCode(byte);
    return printable.test(character) ? character : String.fromCharCode(next++);
  });
}

function byteLevelTokenizer(
  json: Readonly<Record<string, unknown>>,
  facts: TokenizerFacts,
): ReferenceTokenizer {
  const bpe = readBpe(json);
  const alphabet = byteAlphabet();
  const byteOf = new Map(alphabet.map((character, byte) => [character, byte]));
  const ignoresMerges = isObject(json.model) && json.model.ignore_merges === true;
  const addsSpace = isObject(json.pre_tokenizer) && json.pre_tokenizer.add_prefix_space === true;
  const tokenizePiece = (piece: string): readonly string[] => {
    const characters = [...Buffer.from(piece)].map((byte) => alphabet[byte]!);
    if (ignoresMerges && bpe.vocab.has(characters.join(''))) return [characters.join('')];
    // As in the Rust library, a byte that the vocabulary lacks is dropped, and its neighbours may merge.
    return mergeSymbols(
      characters.filter((character) => bpe.vocab.has(character)),
      bpe.rankOf,
    );
  };
  const stages: Stages = {
    normalize: (text) => normalizeText(text, facts.normalizer),
    tokenize: (text) =>
      splitPieces(addsSpace && !text.startsWith(' ') ? ` ${text}` : text, facts.preTokenizer).flatMap(
        tokenizePiece,
      ),
  };
  const bytesOf = (token: string): Buffer => {
    const bytes = [...token].map((character) => byteOf.get(character));
    return bytes.includes(undefined) ? Buffer.from(token) : Buffer.from(bytes as number[]);
  };
  return {
    encode: (text, options) => encodeWith(bpe, stages, text, options),
    decode: (ids, { skipSpecial }) =>
      decodeLossy(Buffer.concat(keptTokens(bpe, ids, skipSpecial).map(bytesOf))),
  };
}

function decodeLossy(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

function sentencePieceTokenizer(json: Readonly<Record<string, unknown>>): ReferenceTokenizer {
  const bpe = readBpe(json);
  const prefix = recognisePrefix(json.normalizer, json.pre_tokenizer);
  const hasNormalizer = isObject(json.normalizer);
  const replaceSpaces = (text: string): string => text.replaceAll(' ', spaceMark);
  const stages: Stages = {
    normalize: (text) => {
      if (!hasNormalizer) return text;
      return prefix === 'always' && text !== '' ? spaceMark + replaceSpaces(text) : replaceSpaces(text);
    },
    tokenize: (text, isFirst) => {
      const replaced = replaceSpaces(text);
      const wants = prefix === 'always-unless-space' || (prefix === 'first-unless-space' && isFirst);
      const whole = wants && !replaced.startsWith(spaceMark) ? spaceMark + replaced : replaced;
      const symbols = [...whole].flatMap((character) =>
        bpe.vocab.has(character) ? [character] : [...Buffer.from(character)].map(byteToken),
      );
      return mergeSymbols(symbols, bpe.rankOf);
    },
  };
  const decoders = isObject(json.decoder) ? (json.decoder.decoders as readonly unknown[]) : [];
  return {
    encode: (text, options) => encodeWith(bpe, stages, text, options),
    decode: (ids, { skipSpecial }) => {
      const text = fuseBytes(keptTokens(bpe, ids, skipSpecial));
      return decoders.length === 4 && text.startsWith(' ') ? text.slice(1) : text;
    },
  };
}

/** Each run of byte tokens becomes text where it is valid as a whole, else one U+FFFD per byte (Rust's ByteFallback). */
function fuseBytes(tokens: readonly string[]): string {
  const runs: (string | number[])[] = [];
  for (const token of tokens) {
    const byte = /^<0x([0-9A-F]{2})>$/.exec(token)?.[1];
    const last = runs.at(-1);
    if (byte === undefined) runs.push(token.replaceAll(spaceMark, ' '));
    else if (Array.isArray(last)) last.push(Number.parseInt(byte, 16));
    else runs.push([Number.parseInt(byte, 16)]);
  }
  return runs.map((run) => (typeof run === 'string' ? run : decodeRun(Buffer.from(run)))).join('');
}

function decodeRun(bytes: Buffer): string {
  const text = decodeLossy(bytes);
  return Buffer.from(text).equals(bytes) ? text : '\ufffd'.repeat(bytes.length);
}
