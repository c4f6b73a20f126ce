/** The parts of a tokenizer.json whose kind decides which realization is needed, each recognised exactly. */
export type Json = Readonly<Record<string, unknown>>;

/** The patterns of the supported pre-tokenizers, as published; any other is refused, however alike. */
export const splitPatterns = {
  qwen2: String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
  llama3: String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
} as const;

export const spaceMark = '\u2581';

export function recognisePreTokenizer(json: unknown): 'gpt2' | 'smollm2' | 'qwen2' | 'llama3' | undefined {
  if (isByteLevel(json, [true, undefined], [true, false])) return 'gpt2';
  if (!isObject(json) || json.type !== 'Sequence' || !Array.isArray(json.pretokenizers)) return undefined;
  const [first, second, ...rest] = json.pretokenizers as unknown[];
  if (!isObject(first) || !isObject(second) || rest.length > 0) return undefined;
  if (
    first.type === 'Digits' &&
    first.individual_digits === true &&
    hasOnly(first, 'type individual_digits')
  ) {
    return isByteLevel(second, [true, undefined], [false]) ? 'smollm2' : undefined;
  }
  const isSplit =
    first.type === 'Split' &&
    first.behavior === 'Isolated' &&
    first.invert === false &&
    hasOnly(first, 'type pattern behavior invert');
  if (!isSplit || !isObject(first.pattern) || !isByteLevel(second, [false], [false])) return undefined;
  const pattern = first.pattern.Regex;
  if (pattern === splitPatterns.qwen2) return 'qwen2';
  return pattern === splitPatterns.llama3 ? 'llama3' : undefined;
}

function isByteLevel(json: unknown, useRegex: readonly unknown[], prefixSpace: readonly unknown[]): boolean {
  return (
    isObject(json) &&
    json.type === 'ByteLevel' &&
    useRegex.includes(json.use_regex) &&
    prefixSpace.includes(json.add_prefix_space) &&
    hasOnly(json, 'type use_regex add_prefix_space trim_offsets')
  );
}

/** Where a space goes before ordinary text; `always` even before a space, the `unless-space` kinds not. */
export type SpacePrefix = 'never' | 'first-unless-space' | 'always-unless-space' | 'always';

export function recognisePrefix(normalizer: unknown, preTokenizer: unknown): SpacePrefix | undefined {
  const prepend = { type: 'Prepend', prepend: spaceMark };
  const replace = { type: 'Replace', pattern: { String: ' ' }, content: spaceMark };
  if (preTokenizer === null || preTokenizer === undefined) {
    if (isSame(normalizer, { type: 'Sequence', normalizers: [prepend, replace] })) return 'always';
    const isReplace =
      isSame(normalizer, replace) || isSame(normalizer, { type: 'Sequence', normalizers: [replace] });
    return isReplace ? 'never' : undefined;
  }
  if ((normalizer !== null && normalizer !== undefined) || !isObject(preTokenizer)) return undefined;
  const isMetaspace =
    preTokenizer.type === 'Metaspace' &&
    preTokenizer.replacement === spaceMark &&
    preTokenizer.split === false &&
    hasOnly(preTokenizer, 'type replacement split prepend_scheme');
  if (!isMetaspace) return undefined;
  if (preTokenizer.prepend_scheme === 'never') return 'never';
  if (preTokenizer.prepend_scheme === 'first') return 'first-unless-space';
  return preTokenizer.prepend_scheme === 'always' ? 'always-unless-space' : undefined;
}

export function byteToken(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
}

export function isSame(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b)) {
    return Array.isArray(a) && Array.isArray(b)
      ? a.length === b.length && a.every((item, index) => isSame(item, b[index]))
      : a === b;
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
  );
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasOnly(part: Json, keys: string): boolean {
  return Object.keys(part).every((key) => keys.split(' ').includes(key));
}
