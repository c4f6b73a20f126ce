import { findClosing } from './code-shapes.ts';
import type { CppToken } from './cpp-tokens.ts';

type Tokens = readonly CppToken[];
type Constants = ReadonlyMap<string, bigint>;

/** What is unrolled further costs minutes of compiling and gains nothing. */
const maxUnroll = 64;
/** Larger arrays belong on the heap, where memory that is lacking is an error that can be told. */
const maxElements = 2n ** 20n;

export function judgeUnroll(directive: string): string | undefined {
  const times = /^#pragma (?:GCC )?unroll (\d+)/.exec(directive)?.[1];
  if (times === undefined || Number(times) <= maxUnroll) return undefined;
  return `a loop unrolled ${times} times is not allowed (limit ${maxUnroll})`;
}

/** Constants of a file whose value stands there: `constexpr int a = 1 << 20, b = 2 * a;`. */
export function findConstants(tokens: Tokens): Constants {
  const found = new Map<string, bigint>();
  for (const [index, { text }] of tokens.entries()) {
    if (text !== 'constexpr' && text !== 'const') continue;
    for (let at = index + 1; at < tokens.length && !/^[;){]$/.test(tokens[at]!.text); at++) {
      if (tokens[at]!.text !== '=') continue;
      const end = tokens.findIndex((token, place) => place > at && /^[;,]$/.test(token.text));
      const value = evaluate(tokens.slice(at + 1, end === -1 ? undefined : end), found);
      if (value !== undefined) found.set(tokens[at - 1]!.text, value);
    }
  }
  return found;
}

/** Dimensions that follow each other, or an std::array, as far as their sizes can be told. */
export function judgeArray(tokens: Tokens, index: number, constants: Constants): string | undefined {
  const { text } = tokens[index]!;
  let elements = 0n;
  if (text === '[' && tokens[index - 1]?.text !== ']') {
    for (let at = index; tokens[at]?.text === '['; ) {
      const close = findClosing(tokens, at) ?? tokens.length;
      const size = evaluate(tokens.slice(at + 1, close), constants) ?? 1n;
      elements = (elements === 0n ? 1n : elements) * size;
      at = close + 1;
    }
  } else if (text === 'array' && tokens[index + 1]?.text === '<')
    elements = evaluate(findLastArgument(tokens, index + 1), constants) ?? 0n;
  return elements > maxElements
    ? `an array of ${elements} elements is not allowed (limit ${maxElements})`
    : undefined;
}

function findLastArgument(tokens: Tokens, index: number): Tokens {
  let depth = 0;
  let start = index + 1;
  for (let at = index; at < tokens.length; at++) {
    const { text } = tokens[at]!;
    // A shift is two of these signs, which close each other's count only by chance: nothing is told of it then.
    if (text === '<' && tokens[at + 1]?.text === '<') at++;
    else if (text === '<') depth++;
    else if (text === '>') depth--;
    else if (text === ',' && depth === 1) start = at + 1;
    if (depth === 0) return tokens.slice(start, at);
    if (text === ';') break;
  }
  return [];
}

const typeWords =
  /^(?:std|::|u?int(?:8|16|32|64)?(?:_t)?|size_t|ptrdiff_t|unsigned|signed|long|short|char|static_cast)$/;

/** Of numbers, known names, brackets and + - * / % and shifts; undefined for anything else. */
function evaluate(tokens: Tokens, constants: Constants): bigint | undefined {
  const texts = tokens.map(({ text }) => text).filter((text) => !typeWords.test(text));
  // What is left of static_cast<int>.
  const source = texts
    .join(' ')
    .replace(/< > (?=\()/g, '')
    .replace(/\{/g, '(')
    .replace(/\}/g, ')');
  const parts = source.replace(/< </g, '<<').replace(/> >/g, '>>').split(' ').filter(Boolean);
  const reader = { parts, at: 0, constants };
  const value = readBinary(reader, 0);
  return reader.at === parts.length ? value : undefined;
}

interface Reader {
  readonly parts: readonly string[];
  at: number;
  readonly constants: Constants;
}

const levels: readonly (readonly string[])[] = [
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
];

const operations: Readonly<Record<string, (a: bigint, b: bigint) => bigint | undefined>> = {
  // Beyond 64 bits nothing of it can be meant.
  '<<': (a, b) => a << (b > 64n ? 64n : b),
  '>>': (a, b) => a >> b,
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0n ? undefined : a / b),
  '%': (a, b) => (b === 0n ? undefined : a % b),
};

function readBinary(reader: Reader, level: number): bigint | undefined {
  const signs = levels[level];
  if (signs === undefined) return readOperand(reader);
  let value = readBinary(reader, level + 1);
  for (let sign = reader.parts[reader.at]; value !== undefined && signs.includes(sign ?? ''); ) {
    reader.at++;
    const other = readBinary(reader, level + 1);
    value = other === undefined ? undefined : operations[sign!]!(value, other);
    sign = reader.parts[reader.at];
  }
  return value;
}

function readOperand(reader: Reader): bigint | undefined {
  const part = reader.parts[reader.at++] ?? '';
  if (part === '(') {
    const value = readBinary(reader, 0);
    return reader.parts[reader.at++] === ')' ? value : undefined;
  }
  const digits = part.replaceAll("'", '').replace(/(?<=[0-9A-Fa-f])[uUlLzZ]+$/, '');
  if (/^(?:[1-9]\d*|0x[0-9a-f]+|0b[01]+|0)$/i.test(digits)) return BigInt(digits);
  if (/^0[0-7]+$/.test(digits)) return BigInt(`0o${digits}`);
  return reader.constants.get(part);
}
