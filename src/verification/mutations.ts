import { stripCommentsAndStrings } from '../model/cpp-text.ts';

/** One change to one source file: `text.slice(start, end)` becomes `replacement`. */
export interface Mutation {
  readonly kind: 'operator' | 'constant' | 'index' | 'dropped-statement';
  readonly start: number;
  readonly end: number;
  readonly original: string;
  readonly replacement: string;
  /** 1-based line of `start`. */
  readonly line: number;
}

const operatorSwaps: Readonly<Record<string, string>> = {
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '==': '!=',
  '!=': '==',
  '&&': '||',
  '||': '&&',
  '+=': '-=',
  '-=': '+=',
  '<<': '>>',
  '>>': '<<',
};

/**
 * Every mechanical mutation of a C++ source, in text order: swapped binary operators, changed numeric constants,
 * shifted indices and dropped statements. Comments, strings, preprocessor lines, template argument lists and
 * static_asserts are left alone. Some results don't compile; the caller discards those.
 */
export function listMutations(source: string): readonly Mutation[] {
  const code = blankUntouchable(stripCommentsAndStrings(source));
  const found = [...operators(code), ...constants(code), ...indices(code), ...statements(code)];
  return found
    .map((mutation) => ({ ...mutation, line: lineOf(source, mutation.start) }))
    .sort((a, b) => a.start - b.start || a.end - b.end || a.kind.localeCompare(b.kind));
}

export function applyMutation(source: string, mutation: Mutation): string {
  return source.slice(0, mutation.start) + mutation.replacement + source.slice(mutation.end);
}

type Found = Omit<Mutation, 'line'>;

/** Same length as the input, with lines that no mutation may touch replaced by spaces. */
function blankUntouchable(code: string): string {
  return code
    .replace(/^[ \t]*#.*$/gm, (text) => ' '.repeat(text.length))
    .replace(/static_assert\s*\([^;]*;/g, (text) => text.replace(/[^\n]/g, ' '))
    .replace(/^\s*(?:using|typedef|namespace|template)\b.*$/gm, (text) => text.replace(/[^\n]/g, ' '));
}

function* operators(code: string): Generator<Found> {
  const pattern = /(?<=[\w)\]]\s)(<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|[-+*/<>])(?=\s[\w(*&!-])/g;
  for (const match of code.matchAll(pattern)) {
    const original = match[1]!;
    const replacement = operatorSwaps[original]!;
    yield { kind: 'operator', start: match.index, end: match.index + original.length, original, replacement };
  }
}

function* constants(code: string): Generator<Found> {
  const pattern =
    /(?<![\w.])(\d+\.\d*(?:e[-+]?\d+)?f?|0x[0-9a-fA-F]+|\d+)(?=[uUlLf]*\b|\b)(?![\w.]*\s*>\s*[(\w{])/g;
  for (const match of code.matchAll(pattern)) {
    const original = match[1]!;
    const replacement = changedConstant(original);
    yield { kind: 'constant', start: match.index, end: match.index + original.length, original, replacement };
  }
}

function changedConstant(original: string): string {
  if (/^0x/.test(original)) return `0x${(Number.parseInt(original, 16) ^ 1).toString(16)}`;
  if (!original.includes('.')) return String(Number.parseInt(original, 10) + 1);
  const suffix = original.endsWith('f') ? 'f' : '';
  const value = Number.parseFloat(original);
  return `${value === 0 ? '0.5' : (value * 1.25).toPrecision(8)}${suffix}`;
}

function* indices(code: string): Generator<Found> {
  const pattern = /(?<=[\w)\]])\[([^[\]{}]+)\]/g;
  for (const match of code.matchAll(pattern)) {
    const inner = match[1]!;
    if (!/[a-z_]/i.test(inner)) continue;
    const start = match.index + 1;
    yield { kind: 'index', start, end: start + inner.length, original: inner, replacement: `(${inner}) + 1` };
  }
}

/** Expression statements on a line of their own: calls and assignments, never declarations or control flow. */
function* statements(code: string): Generator<Found> {
  const pattern =
    /^([ \t]*)((?:[\w.:>\-[\]() +*&]+?(?:\s[-+*/|&^]?=\s)[^;{}]*|[\w.:>-]+\([^;{}]*\)|[+-]{2}[\w.]+|[\w.]+[+-]{2});)[ \t]*$/gm;
  for (const match of code.matchAll(pattern)) {
    const original = match[2]!;
    if (isDeclaration(original)) continue;
    const start = match.index + match[1]!.length;
    yield { kind: 'dropped-statement', start, end: start + original.length, original, replacement: ';' };
  }
}

function isDeclaration(statement: string): boolean {
  if (
    /^(?:return|throw|break|continue|case|if|for|while|else|goto|delete|struct|constexpr|static|const|auto|inline)\b/.test(
      statement,
    )
  )
    return true;
  const left = /^([^=(]*?)\s*(?:[-+*/|&^]?=|\()/.exec(statement)?.[1] ?? '';
  // Two words before `=` or `(` are a type and a name.
  return /^[\w:<>,*&\s]+\s+[*&]?\s*\w+$/.test(left.trim()) && /\s/.test(left.trim());
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let index = text.indexOf('\n'); index !== -1 && index < offset; index = text.indexOf('\n', index + 1))
    line++;
  return line;
}
