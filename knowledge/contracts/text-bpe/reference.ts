import type { ReferenceOps } from '../../../src/model/reference.ts';
import { inputOf, tensor } from '../../../src/model/reference-case.ts';
import { isObject } from '../../../src/model/tokenizer-parts.ts';

export interface AddedToken {
  readonly content: string;
  readonly id: number;
  readonly special: boolean;
}

export interface Section {
  readonly text: string;
  /** UTF-16 index in the text that was cut. */
  readonly start: number;
  /** Undefined for ordinary text. */
  readonly id: number | undefined;
}

export interface ReferenceBpe {
  readonly vocab: ReadonlyMap<string, number>;
  /** Token text by id, added tokens included. */
  readonly tokens: ReadonlyMap<number, string>;
  readonly specialIds: ReadonlySet<number>;
  readonly rankOf: (left: string, right: string) => number;
  readonly raw: readonly AddedToken[];
  readonly normalized: readonly AddedToken[];
  readonly before: readonly number[];
  readonly after: readonly number[];
}

const noRank = 0x7fffffff;

interface TokenizerJson {
  readonly model: {
    readonly vocab: Record<string, number>;
    readonly merges: readonly (string | [string, string])[];
  };
  readonly added_tokens: readonly (AddedToken & { readonly normalized?: boolean })[];
  readonly post_processor: unknown;
}

/** json: a tokenizer.json that readTokenizerFacts accepts. */
export function readBpe(json: unknown): ReferenceBpe {
  const { model, added_tokens: added, post_processor: processor } = json as TokenizerJson;
  const vocab = new Map(Object.entries(model.vocab));
  const ranks = new Map<string, number>();
  for (const [rank, merge] of model.merges.entries()) {
    ranks.set(typeof merge === 'string' ? merge : merge.join(' '), rank);
  }
  const tokens = new Map([...vocab].map(([token, id]) => [id, token]));
  for (const token of added) tokens.set(token.id, token.content);
  return {
    vocab,
    tokens,
    specialIds: new Set(added.filter((token) => token.special).map((token) => token.id)),
    rankOf: (left, right) => ranks.get(`${left} ${right}`) ?? noRank,
    raw: added.filter((token) => token.normalized !== true),
    normalized: added.filter((token) => token.normalized === true),
    ...readTemplate(processor),
  };
}

/** The ids that a TemplateProcessing, alone or in a sequence, puts around a text. */
function readTemplate(processor: unknown): { before: number[]; after: number[] } {
  const parts =
    isObject(processor) && Array.isArray(processor.processors) ? processor.processors : [processor];
  const around = { before: [] as number[], after: [] as number[] };
  for (const part of parts as unknown[]) {
    if (!isObject(part) || part.type !== 'TemplateProcessing') continue;
    const single = part.single as readonly { SpecialToken?: { id: string } }[];
    const special = part.special_tokens as Record<string, { ids: number[] }>;
    const middle = single.findIndex((piece) => piece.SpecialToken === undefined);
    for (const [index, piece] of single.entries()) {
      if (piece.SpecialToken === undefined) continue;
      around[index < middle ? 'before' : 'after'].push(...special[piece.SpecialToken.id]!.ids);
    }
  }
  return around;
}

/** Leftmost-longest; a special token that isn't to be parsed is passed over as a whole and stays text. */
export function splitAdded(added: readonly AddedToken[], text: string, parseSpecial: boolean): Section[] {
  if (added.length === 0) return text === '' ? [] : [{ text, start: 0, id: undefined }];
  const byLength = [...added].sort((a, b) => b.content.length - a.content.length);
  const escaped = byLength.map((token) => token.content.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const byContent = new Map(byLength.map((token) => [token.content, token]));
  const sections: Section[] = [];
  let start = 0;
  const addText = (end: number): void => {
    if (end > start) sections.push({ text: text.slice(start, end), start, id: undefined });
  };
  for (const match of text.matchAll(new RegExp(escaped.join('|'), 'gu'))) {
    const token = byContent.get(match[0])!;
    if (token.special && !parseSpecial) continue;
    addText(match.index);
    sections.push({ text: match[0], start: match.index, id: token.id });
    start = match.index + match[0].length;
  }
  addText(text.length);
  return sections;
}

/**
 * Merges neighbours, the lowest rank first and the leftmost of equals, until none is left. `least` is a tree over the
 * ranks of all neighbours, so that each step costs log n: a piece may be a whole text of 64 KB.
 */
export function mergeSymbols(
  symbols: readonly string[],
  rankOf: (left: string, right: string) => number,
): string[] {
  const count = symbols.length;
  const parts: (string | undefined)[] = [...symbols];
  const next = Array.from({ length: count }, (_, index) => index + 1);
  const previous = Array.from({ length: count }, (_, index) => index - 1);
  const least = leastTree(count);
  const update = (left: number): void => {
    if (left < 0) return;
    const right = parts[next[left]!];
    const isPair = parts[left] !== undefined && right !== undefined;
    least.set(left, isPair ? rankOf(parts[left]!, right) : noRank);
  };
  for (let index = 0; index < count; index += 1) update(index);
  for (let left = least.leftmost(); left >= 0; left = least.leftmost()) {
    const right = next[left]!;
    parts[left] = parts[left]! + parts[right]!;
    parts[right] = undefined;
    next[left] = next[right]!;
    if (next[left]! < count) previous[next[left]!] = left;
    for (const index of [right, left, previous[left]!]) update(index);
  }
  return parts.filter((part) => part !== undefined);
}

/** Least value over positions, and the leftmost position that has it (-1 where all are noRank). */
function leastTree(count: number): { set(index: number, value: number): void; leftmost(): number } {
  const width = 2 ** Math.ceil(Math.log2(Math.max(count, 1)));
  const tree = new Int32Array(2 * width).fill(noRank);
  return {
    set(index, value) {
      tree[width + index] = value;
      for (let node = (width + index) >> 1; node > 0; node >>= 1) {
        tree[node] = Math.min(tree[2 * node]!, tree[2 * node + 1]!);
      }
    },
    leftmost() {
      if (tree[1] === noRank) return -1;
      let node = 1;
      while (node < width) node = tree[2 * node]! <= tree[2 * node + 1]! ? 2 * node : 2 * node + 1;
      return node - width;
    },
  };
}

/** The tokenizer.json of a gate case, as the shim gets it. */
function caseBpe(params: Readonly<Record<string, number | string>>): ReferenceBpe {
  return readBpe(JSON.parse(String(params.tokenizer)));
}

export const ops: ReferenceOps = {
  append_merged: (unit) => {
    const bpe = caseBpe(unit.params);
    const symbols = [...inputOf(unit, 'symbols').data].map((id) => bpe.tokens.get(id)!);
    const ids = mergeSymbols(symbols, bpe.rankOf).map((token) => bpe.vocab.get(token)!);
    return { ids: tensor([ids.length], Int32Array.from(ids)) };
  },
  split_added: (unit) => {
    const text = new TextDecoder().decode(Uint8Array.from(inputOf(unit, 'text').data));
    const sections = splitAdded(caseBpe(unit.params).raw, text, unit.params.parse_special === 1);
    const pairs = sections.flatMap((section) => [Buffer.byteLength(section.text), section.id ?? -1]);
    return { sections: tensor([sections.length, 2], Int32Array.from(pairs)) };
  },
  read_template: (unit) => {
    const { before, after } = caseBpe(unit.params);
    const ids = [...before, -1, ...after];
    return { ids: tensor([ids.length], Int32Array.from(ids)) };
  },
};
