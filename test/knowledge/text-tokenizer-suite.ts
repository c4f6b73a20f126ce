import { Tokenizer } from '@huggingface/tokenizers';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  loadReferenceTokenizer,
  type ReferenceTokenizer,
} from '../../knowledge/contracts/text-tokenizer/reference.ts';
import {
  buildDriver,
  decodeRequest,
  encodeRequest,
  readChunks,
  readIds,
  runDriver,
  writeTokenizer,
} from './text-driver.ts';
import type { TokenizerCase } from './text-fixtures.ts';
import { fixedStrings, largeStrings, randomStrings, seededRandom } from './text-strings.ts';

const withSpecial = { addSpecial: true, parseSpecial: true };
const otherOptions = [false, true].map((parseSpecial) => ({ addSpecial: false, parseSpecial }));

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

/** What the compiled tokenizer answers; reading a vocabulary takes longest, so all requests go in two runs. */
function askDriver(subject: TokenizerCase, strings: readonly string[], some: readonly string[]) {
  const program = buildDriver('text-driver.cpp', subject.parts);
  const folder = writeTokenizer(JSON.stringify(subject.json));
  const requests = [
    ...strings.map((text) => encodeRequest(text, withSpecial)),
    ...otherOptions.flatMap((options) => some.map((text) => encodeRequest(text, options))),
  ];
  const ids = runDriver(program, [folder], requests).map(readIds);
  const encoded = ids.slice(0, strings.length);
  const encodedOtherwise = otherOptions.map((_, index) =>
    ids.slice(strings.length + index * some.length, strings.length + (index + 1) * some.length),
  );
  const size = Math.max(...encoded.flat().slice(0, 1000), 1000) + 300;
  const decodings = [false, true].flatMap((skipSpecial) =>
    idSequences(encoded, size).map((sequence) => ({ sequence, skipSpecial })),
  );
  const replies = runDriver(
    program,
    [folder],
    decodings.map(({ sequence, skipSpecial }) => decodeRequest(sequence, skipSpecial)),
  );
  const decoded = decodings.map((decoding, index) => ({ ...decoding, chunks: readChunks(replies[index]!) }));
  return { encoded, encodedOtherwise, decoded };
}

export function describeTokenizers(cases: readonly TokenizerCase[]): void {
  describe.each(cases)('the tokenizer of $name', (subject: TokenizerCase) => {
    const strings = [
      ...fixedStrings,
      ...randomStrings(subject.name === 'SmolLM2-like' ? 2800 : 2400, 1),
      ...largeStrings(),
    ];
    const some = strings.filter(
      (text, index) => index < fixedStrings.length || (index % 4 === 0 && text.length < 5000),
    );
    let answers: ReturnType<typeof askDriver>;
    let reference: ReferenceTokenizer;
    let port: Tokenizer;

    beforeAll(() => {
      answers = askDriver(subject, strings, some);
      reference = loadReferenceTokenizer(subject.json);
      port = new Tokenizer(subject.json as object, { clean_up_tokenization_spaces: false });
    });

    it('gives the ids of @huggingface/tokenizers for more than 2,000 strings', () => {
      const comparable = strings.map((text) =>
        subject.portDiffers?.test(text) === true ? undefined : port.encode(text).ids,
      );
      expect(comparable.filter((ids) => ids !== undefined).length).toBeGreaterThanOrEqual(2000);
      expect(firstDifference(strings, answers.encoded, comparable)).toBeUndefined();
    });

    it('gives the ids of the reference for every string', () => {
      const expected = strings.map((text) => reference.encode(text, withSpecial));
      expect(firstDifference(strings, answers.encoded, expected)).toBeUndefined();
    });

    it('leaves out the template and leaves special tokens as text where asked to', () => {
      for (const [index, options] of otherOptions.entries()) {
        const expected = some.map((text) => reference.encode(text, options));
        expect(firstDifference(some, answers.encodedOtherwise[index]!, expected)).toBeUndefined();
      }
    });

    it('streams whole characters that join to the reference decoding of the whole', () => {
      for (const { sequence, skipSpecial, chunks } of answers.decoded) {
        const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
        const text = chunks.map((chunk) => fatal.decode(chunk)).join('');
        expect(text, `ids ${sequence}`).toBe(reference.decode(sequence, { skipSpecial }));
      }
    });

    it('decodes what it encoded as @huggingface/tokenizers does', () => {
      for (const [index, ids] of answers.encoded.entries()) {
        if (ids.length === 0 || ids.length > 500) continue;
        expect(reference.decode(ids, { skipSpecial: true }), strings[index]).toBe(
          port.decode(ids, { skip_special_tokens: true }),
        );
      }
    });
  });
}
