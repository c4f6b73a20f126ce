/** One token of a C++ text. Comments and preprocessor lines give none; a string or character literal gives one. */
export interface CppToken {
  readonly text: string;
  readonly kind: 'identifier' | 'number' | 'literal' | 'punctuation';
  /** 1-based. */
  readonly line: number;
}

export interface CppInclude {
  /** As written: `<vector>` or `"norm_rms.h"`. */
  readonly written: string;
  readonly line: number;
}

const patterns = [
  ['skip', /[ \t\r\n\\]+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y],
  ['literal', /(?:u8|[uUL])?R"([^ ()\\\t\n]{0,16})\([\s\S]*?\)\1"/y],
  ['literal', /(?:u8|[uUL])?"(?:[^"\\\n]|\\[\s\S])*"|(?:u8|[uUL])?'(?:[^'\\\n]|\\[\s\S])+'/y],
  ['identifier', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['number', /\.?[0-9](?:[eEpP][+-]|[0-9A-Za-z_.']|'(?=[0-9A-Fa-f]))*/y],
  ['punctuation', /::|->|&&|\|\||[=!<>]=|[+\-*/%&|^]=|\+\+|--|[\s\S]/y],
] as const;

/** Splits C++ into tokens; robust against everything that the engine's style allows, raw strings included. */
export function tokenizeCpp(text: string): CppToken[] {
  const code = blankPreprocessor(text);
  const tokens: CppToken[] = [];
  let offset = 0;
  let line = 1;
  while (offset < code.length) {
    for (const [kind, pattern] of patterns) {
      pattern.lastIndex = offset;
      const match = pattern.exec(code)?.[0];
      if (match === undefined || match === '') continue;
      if (kind !== 'skip') tokens.push({ text: match, kind, line });
      line += countLineBreaks(match);
      offset += match.length;
      break;
    }
  }
  return tokens;
}

/** The `#include` lines of a text. */
export function findIncludes(text: string): CppInclude[] {
  return text.split('\n').flatMap((line, index) => {
    const match = /^\s*#\s*include\s*(<[^>]*>|"[^"]*"|\S+)/.exec(line);
    return match?.[1] === undefined ? [] : [{ written: match[1], line: index + 1 }];
  });
}

/** Constants of config.h that a text refers to as `config::name`. */
export function findConfigReferences(tokens: readonly CppToken[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const [index, token] of tokens.entries()) {
    if (token.text !== 'config' || tokens[index + 1]?.text !== '::') continue;
    const name = tokens[index + 2];
    if (name?.kind === 'identifier' && !found.has(name.text)) found.set(name.text, name.line);
  }
  return found;
}

/** Where `wanted` occurs in `tokens` as an unbroken run, or -1. */
export function indexOfTokens(tokens: readonly CppToken[], wanted: readonly CppToken[]): number {
  if (wanted.length === 0) return -1;
  return tokens.findIndex((_, start) =>
    wanted.every((token, step) => tokens[start + step]?.text === token.text),
  );
}

/** Keeps line numbers: every preprocessor line becomes an empty one. Raw strings with a leading # do not occur. */
function blankPreprocessor(text: string): string {
  return text.replace(/^[ \t]*#(?:[^\n\\]|\\[\s\S])*/gm, (line) => '\n'.repeat(countLineBreaks(line)));
}

function countLineBreaks(text: string): number {
  return text.split('\n').length - 1;
}
