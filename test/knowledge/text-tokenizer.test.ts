import { Tokenizer } from '@huggingface/tokenizers';
import { describe, expect, it } from 'vitest';
import { loadReferenceTokenizer } from '../../knowledge/contracts/text-tokenizer/reference.ts';
import {
  buildDriver,
  decodeRequest,
  encodeRequest,
  readChunks,
  readIds,
  runDriver,
  writeTokenizer,
} from './text-driver.ts';
import { type TokenizerCase, tokenizerCases } from './text-fixtures.ts';
import { fixedStrings, largeStrings, randomStrings, seededRandom } from './text-strings.ts';

const withSpecial = { addSpecial: true, parseSpecial: true };

/** The first string on which two lists of ids differ, so that a failure is readable. */
function firstDifference(
  strings: readonly string[],
  actual: readonly number[][],
  expected: readonly (number[] | undefined)[],
) {
  const index = strings.findIndex(
    (_, at) => expected[at] !== undefined && `${actual[at]}` !== `${expected[at]}`,
  );
  if (index < 0) return undefined;
  return {
    text: JSON.stringify(strings[index]).slice(0, 400),
    actual: actual[index]?.slice(0, 200),
    expected: expected[index]?.slice(0, 200),
  };
}

/** Runs of ids: what texts encode to, and draws over the whole vocabulary and beyond it. */
function idSequences(encoded: readonly number[][], size: number): number[][] {
  const random = seededRandom(5);
  const drawn = Array.from({ length: 300 }, (_, index) =>
    Array.from({ length: 1 + (index % 30) }, () =>
      Math.floor(random() * (index % 2 === 0 ? size : Math.min(size, 300))),
    ),
  );
  return [
    [],
    [-1, size, size + 1000],
    ...encoded.filter((_, index) => index % 5 === 0 && encoded[index]!.length < 500),
    ...drawn,
  ];
}

describe.each(tokenizerCases)('the tokenizer of $name', (subject: TokenizerCase) => {
  const program = buildDriver('text-driver.cpp', subject.parts);
  const folder = writeTokenizer(JSON.stringify(subject.json));
  const reference = loadReferenceTokenizer(subject.json);
  const port = new Tokenizer(subject.json as object, { clean_up_tokenization_spaces: false });
  const strings = [
    ...fixedStrings,
    ...randomStrings(subject.name === 'SmolLM2-like' ? 2800 : 2400, 1),
    ...largeStrings(),
  ];
  const encoded = runDriver(
    program,
    [folder],
    strings.map((text) => encodeRequest(text, withSpecial)),
  ).map(readIds);

  it('gives the ids of @huggingface/tokenizers for more than 2,000 strings', () => {
    const comparable = strings.map((text) =>
      subject.portDiffers?.test(text) === true ? undefined : port.encode(text).ids,
    );
    expect(comparable.filter((ids) => ids !== undefined).length).toBeGreaterThanOrEqual(2000);
    expect(firstDifference(strings, encoded, comparable)).toBeUndefined();
  });

  it('gives the ids of the reference for every string', () => {
    const expected = strings.map((text) => reference.encode(text, withSpecial));
    expect(firstDifference(strings, encoded, expected)).toBeUndefined();
  });

  it('leaves out the template and leaves special tokens as text where asked to', () => {
    const some = strings.filter(
      (text, index) => index < fixedStrings.length || (index % 4 === 0 && text.length < 5000),
    );
    for (const parseSpecial of [false, true]) {
      const options = { addSpecial: false, parseSpecial };
      const requests = some.map((text) => encodeRequest(text, options));
      const ids = runDriver(program, [folder], requests).map(readIds);
      const expected = some.map((text) => reference.encode(text, options));
      expect(firstDifference(some, ids, expected)).toBeUndefined();
    }
  });

  it('streams whole characters that join to the reference decoding of the whole', () => {
    const size = Math.max(...encoded.flat().slice(0, 1000), 1000) + 300;
    const sequences = idSequences(encoded, size);
    for (const skipSpecial of [false, true]) {
      const replies = runDriver(
        program,
        [folder],
        sequences.map((ids) => decodeRequest(ids, skipSpecial)),
      );
      for (const [index, reply] of replies.entries()) {
        const chunks = readChunks(reply);
        const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
        const text = chunks.map((chunk) => fatal.decode(chunk)).join('');
        expect(text, `ids ${sequences[index]}`).toBe(reference.decode(sequences[index]!, { skipSpecial }));
      }
    }
  });

  it('decodes what it encoded as @huggingface/tokenizers does', () => {
    for (const [index, ids] of encoded.entries()) {
      if (ids.length === 0 || ids.length > 500) continue;
      expect(reference.decode(ids, { skipSpecial: true }), strings[index]).toBe(
        port.decode(ids, { skip_special_tokens: true }),
      );
    }
  });
});
