import fc from 'fast-check';
import { expect, it } from 'vitest';
import { read, validText } from './read-case.ts';

/** Whatever the text: an answer with at least one error, or constraints; never an exception. */
function expectAnswer(text: string): void {
  const { constraints, sha256, problems, errors } = read(text);
  expect(constraints === undefined).toBe(errors.length > 0);
  expect(sha256 === undefined).toBe(constraints === undefined);
  for (const { message } of problems) expect(message).not.toMatch(/undefined|\[object|Invalid input|\n/);
}

it('answers random characters with problems', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), expectAnswer), { numRuns: 300 });
});

it('answers random bytes with problems', () => {
  const text = fc.uint8Array({ maxLength: 300 }).map((bytes) => new TextDecoder().decode(bytes));
  fc.assert(fc.property(text, expectAnswer), { numRuns: 300 });
});

it('answers random YAML punctuation with problems', () => {
  const piece = fc.constantFrom(
    'a',
    ': ',
    '- ',
    '? ',
    '\n',
    '  ',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '|',
    '>',
    '&x ',
    '*x',
    '!t ',
    '%',
    '---\n',
    '#',
    ',',
    '<<',
    '~',
    '1e9',
    'null',
    '\t',
    '__proto__',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 60 }).map((parts) => parts.join('')),
      expectAnswer,
    ),
    { numRuns: 500 },
  );
});

it('answers mutations of a valid file', () => {
  const lines = validText.trimEnd().split('\n');
  const value = fc.constantFrom(
    '',
    '0',
    '-1',
    '1e400',
    '9'.repeat(400),
    'null',
    '~',
    '[]',
    '{}',
    '[1, 2]',
    '{a: {b: 1}}',
    'true',
    '"\\u0000"',
    '.inf',
    '0x10',
    '>',
    '|',
    '8GiB',
    '2001-01-01',
    '1_000',
    '<= 1',
  );
  const mutation = fc.record({
    at: fc.nat(lines.length - 1),
    kind: fc.constantFrom('value', 'drop', 'twice', 'indent', 'key', 'insert'),
    value,
    word: fc.string({ unit: 'binary', maxLength: 12 }),
  });
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
      const changed = [...lines];
      for (const { at, kind, value: written, word } of mutations) {
        const line = changed[at] ?? '';
        if (kind === 'value') changed[at] = line.replace(/:.*/, () => `: ${written}`);
        else if (kind === 'drop') changed[at] = '';
        else if (kind === 'twice') changed[at] = `${line}\n${line}`;
        else if (kind === 'indent') changed[at] = ` ${line}`;
        else if (kind === 'key') changed[at] = line.replace(/[\w]+(?=:)/, () => word);
        else changed[at] = line + word;
      }
      expectAnswer(changed.join('\n'));
    }),
    { numRuns: 1000 },
  );
});
