import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildDriver, byteLevelParts, runDriver, sentencePieceParts, writeTokenizer } from './text-driver.ts';
import { tokenizerCases } from './text-fixtures.ts';
import { describeTokenizers } from './text-tokenizer-suite.ts';

describeTokenizers(tokenizerCases.filter((subject) => subject.isLarge !== true));

describe('an engine composed for one kind of tokenizer', () => {
  const gpt2 = tokenizerCases.find((subject) => subject.name === 'GPT-2-like')!.json;
  const llama2 = tokenizerCases.find((subject) => subject.name === 'Llama-2')!.json;
  const qwen3 = { ...gpt2, normalizer: { type: 'NFC' } };

  it.each([
    ['SentencePiece', byteLevelParts('gpt2', 'none'), llama2, /tokenizer\.json: normalizer: expected null/],
    ['NFC', byteLevelParts('gpt2', 'none'), qwen3, /tokenizer\.json: normalizer: expected null/],
    ['the GPT-2 pattern', byteLevelParts('smollm2', 'none'), gpt2, /pre_tokenizer: expected single Digits/],
    ['byte-level', sentencePieceParts, gpt2, /tokenizer\.json: .*byte_fallback/],
  ])('refuses one of %s by name', (_, parts, json, message) => {
    const program = buildDriver('text-driver.cpp', parts);
    expect(() => runDriver(program, [writeTokenizer(JSON.stringify(json))], [])).toThrow(message);
  });

  it('names the file that is missing or broken', () => {
    const program = buildDriver('text-driver.cpp', byteLevelParts('gpt2', 'none'));
    expect(() => runDriver(program, ['/nowhere'], [])).toThrow('/nowhere/tokenizer.json');
    const folder = writeTokenizer('{}');
    writeFileSync(join(folder, 'tokenizer.json'), '{"model": ');
    expect(() => runDriver(program, [folder], [])).toThrow('tokenizer.json');
  });
});
