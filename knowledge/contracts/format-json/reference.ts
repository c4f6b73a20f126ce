import type { ReferenceOps } from '../../../src/model/reference.ts';
import { inputOf, tensor } from '../../../src/model/reference-case.ts';

const maxDepth = 64;
const tokens = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+/gs;

/**
 * The text printed canonically, or undefined where the contract refuses it. JSON.parse decides what is JSON; depth,
 * repeated keys, the order of members and numbers beyond a double are the contract's own.
 */
export function canonicalJson(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const queue = text.match(tokens) ?? [];
  let at = 0;
  const readValue = (depth: number): string => {
    if (depth > maxDepth) throw new RangeError('too deep');
    const token = queue[at++]!;
    if (token === '{' || token === '[') return readItems(token, depth);
    if (token.startsWith('"')) return quote(JSON.parse(token) as string);
    return /^[tfn]/.test(token) ? token : printNumber(token);
  };
  const readItems = (open: string, depth: number): string => {
    const keys = new Set<string>();
    const items: string[] = [];
    while (!/^[}\]]$/.test(queue[at]!)) {
      if (queue[at] === ',') at++;
      let key = '';
      if (open === '{') {
        key = quote(JSON.parse(queue[at]!) as string);
        if (keys.has(key)) throw new RangeError('repeated key');
        keys.add(key);
        at += 2;
        key += ':';
      }
      items.push(key + readValue(depth + 1));
    }
    at++;
    return open === '{' ? `{${items.join(',')}}` : `[${items.join(',')}]`;
  };
  try {
    return readValue(0);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A number without fraction up to 2^53 as an integer, any other as C prints `%.17g`. */
function printNumber(token: string): string {
  const value = Number(token);
  const isZeroText = /^-?[0.]+(?:[eE].*)?$/.test(token);
  if (!Number.isFinite(value) || (value === 0 && !isZeroText)) throw new RangeError('beyond a double');
  if (Number.isInteger(value) && Math.abs(value) <= 2 ** 53)
    return Object.is(value, -0) ? '-0' : String(value);
  const [digits, exponentText] = value.toExponential(16).split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 17) return trimZeros(value.toFixed(Math.max(0, 16 - exponent)));
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${trimZeros(digits)}e${exponent < 0 ? '-' : '+'}${size}`;
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Lone surrogates cannot be written in UTF-8 and become U+FFFD. */
function quote(text: string): string {
  const wellFormed = new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text));
  const escaped = [...wellFormed].map((character) => {
    const code = character.codePointAt(0)!;
    const short = shortEscapes[character];
    return short ?? (code < 0x20 ? `\\u${code.toString(16).padStart(4, '0')}` : character);
  });
  return `"${escaped.join('')}"`;
}

export const ops: ReferenceOps = {
  parse: (unit) => {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      Uint8Array.from(inputOf(unit, 'json').data),
    );
    const printed = canonicalJson(text);
    const bytes = new TextEncoder().encode(printed ?? '');
    return {
      text: tensor([bytes.length], bytes),
      error: tensor([1], Int32Array.of(printed === undefined ? 1 : 0)),
    };
  },
};
