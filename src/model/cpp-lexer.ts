/** A piece of a C++ text as the compiler cuts it; the pieces of a text, one after the other, are the text. */
export interface CppPiece {
  readonly kind: 'break' | 'blank' | 'comment' | 'literal' | 'identifier' | 'number' | 'punctuation';
  /** Without line splices. */
  readonly text: string;
  /** Offsets in the source. */
  readonly start: number;
  readonly end: number;
  /** 1-based. */
  readonly line: number;
  readonly isDirective: boolean;
}

/** A backslash at the end of a line; compilers forgive blanks behind it. */
const splice = /\\[ \t\v\f]*\r?\n/g;

const patterns = [
  ['break', /\r?\n/y],
  ['blank', /[ \t\v\f\r]+/y],
  ['comment', /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y],
  ['literal', /(?:u8|[uUL])?R"([^ ()\\\t\v\f\n]{0,16})\([\s\S]*?\)\1"/y],
  ['literal', /(?:u8|[uUL])?"(?:[^"\\\n]|\\[^\n])*"|(?:u8|[uUL])?'(?:[^'\\\n]|\\[^\n])+'/y],
  ['identifier', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['number', /\.?[0-9](?:[eEpP][+-]|[0-9A-Za-z_.]|'(?=[0-9A-Za-z_]))*/y],
  ['punctuation', /::|->|&&|\|\||[=!<>]=|[+\-*/%&|^]=|\+\+|--|[\s\S]/y],
] as const;

/**
 * Cuts a C++ text. Splices are taken out first, as compilers do; that they stay in raw strings makes no difference to
 * what may be written, for the rules refuse a splice wherever it is.
 */
export function lexCpp(source: string): CppPiece[] {
  const { text, originOf } = joinLines(source);
  const pieces: CppPiece[] = [];
  let isDirective = false;
  let isLineStart = true;
  let line = 1;
  for (let at = 0; at < text.length; ) {
    const { kind, match } = matchAt(text, at);
    if (kind === 'break') isDirective = false;
    else if (isLineStart && kind === 'punctuation' && isHash(text, at)) isDirective = true;
    // A comment counts as a blank: a directive may stand behind one.
    isLineStart = kind === 'break' || (isLineStart && (kind === 'blank' || kind === 'comment'));
    const start = originOf(at);
    const end = originOf(at + match.length);
    pieces.push({ kind, text: match, start, end, line, isDirective });
    line += countLineBreaks(source.slice(start, end));
    at += match.length;
  }
  return pieces;
}

function matchAt(text: string, at: number): { kind: CppPiece['kind']; match: string } {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0];
    if (match !== undefined && match !== '') return { kind, match };
  }
  return { kind: 'punctuation', match: text[at] ?? '' };
}

function isHash(text: string, at: number): boolean {
  return text[at] === '#' || text.startsWith('%:', at) || text.startsWith('??=', at);
}

function joinLines(source: string): { text: string; originOf: (offset: number) => number } {
  const cuts: { at: number; removed: number }[] = [];
  let removed = 0;
  const text = source.replace(splice, (match, offset: number) => {
    const at = offset - removed;
    removed += match.length;
    cuts.push({ at, removed });
    return '';
  });
  let passed = 0;
  // Asked in ascending order. A cut at the offset itself belongs to the piece that begins there.
  const originOf = (offset: number): number => {
    while (cuts[passed] !== undefined && cuts[passed]!.at < offset) passed++;
    if (offset === text.length) return source.length;
    return offset + (cuts[passed - 1]?.removed ?? 0);
  };
  return { text, originOf };
}

function countLineBreaks(text: string): number {
  return text.split('\n').length - 1;
}
