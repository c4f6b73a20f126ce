import { expect, test } from 'vitest';
import { stripCommentsAndStrings } from '../../src/model/cpp-text.ts';
import { findDirectives, findIncludes, tokenizeCpp } from '../../src/model/cpp-tokens.ts';

function words(text: string): string[] {
  return tokenizeCpp(text).map((token) => token.text);
}

test.each<[string, string, string[]]>([
  [
    'a directive within a raw string',
    'auto s = R"(\n#include "x" )"; f();',
    ['auto', 's', '=', 'R"(\n#include "x" )"', ';', 'f', '(', ')', ';'],
  ],
  ['a raw string with a delimiter', 'R"a(x)" )b" )a" y', ['R"a(x)" )b" )a"', 'y']],
  ['prefixed raw strings', 'u8R"(")" LR"(")" y', ['u8R"(")"', 'LR"(")"', 'y']],
  ['a name that ends in R', 'fooR"(" y', ['fooR', '"("', 'y']],
  ['a splice within a name', 'sys\\\ntem(1)', ['system', '(', '1', ')']],
  ['a splice with blanks and a carriage return', 'sys\\ \r\ntem', ['system']],
  ['a line comment that goes on', '// a \\\nb\nc', ['c']],
  ['a directive that goes on', '#define A \\\n b\nc', ['c']],
  ['a directive that goes on in a comment', '#define A /* \n b */ d\nc', ['c']],
  ['a directive as a digraph, behind a comment', '/* */ %:define A b\nc', ['c']],
  ['a quotation mark as a character', 'case\'"\': f("x")', ['case', "'\"'", ':', 'f', '(', '"x"', ')']],
  ['digit separators', "1'000'000 'x'", ["1'000'000", "'x'"]],
  ['a hash that opens no line', 'a # b', ['a', '#', 'b']],
])('%s is cut as compilers cut it', (_, text, expected) => {
  expect(words(text)).toEqual(expected);
});

test('tokens behind splices, comments and raw strings keep their lines', () => {
  const text = 'a\\\nb\n/*\n\n*/ c\nR"(\n\n)" d\n';
  expect(tokenizeCpp(text).map(({ text: word, line }) => [word, line])).toEqual([
    ['ab', 1],
    ['c', 5],
    ['R"(\n\n)"', 6],
    ['d', 8],
  ]);
});

test('includes are found where they are directives, and only there', () => {
  const text = '#include <a>\n// #include <b>\nR"(\n#include <c>\n)"\n /**/ #  include "d"\n%:include <e>\n';
  expect(findIncludes(text)).toEqual([
    { written: '<a>', line: 1 },
    { written: '"d"', line: 6 },
    { written: '<e>', line: 7 },
  ]);
  expect(findDirectives('#if A \\\n  B\n#endif\n').map(({ written }) => written)).toEqual([
    '#if A   B',
    '#endif',
  ]);
});

test('blanked comments and strings keep every offset', () => {
  const text = 'f("a\\"b", u8R"x(")x"); // "c\n/* \n */ g(\'"\');\ncase\'"\': x\\\ny;';
  const bare = stripCommentsAndStrings(text);
  expect(bare).toHaveLength(text.length);
  expect(bare.replace(/ +/g, ' ')).toBe('f( , ); \n \n g( );\ncase : x\\\ny;');
});
