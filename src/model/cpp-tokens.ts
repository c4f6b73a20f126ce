import { lexCpp } from './cpp-lexer.ts';

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

/** Splits C++ into tokens; robust against everything that C++ allows, raw strings and line splices included. */
export function tokenizeCpp(text: string): CppToken[] {
  return lexCpp(text).flatMap(({ kind, text: written, line, isDirective }) =>
    isDirective || kind === 'break' || kind === 'blank' || kind === 'comment'
      ? []
      : [{ text: written, kind, line }],
  );
}

/** Preprocessor lines, as written but for line splices. */
export function findDirectives(text: string): { written: string; line: number }[] {
  const found: { written: string; line: number }[] = [];
  let isWithin = false;
  for (const { text: written, line, isDirective } of lexCpp(text)) {
    const last = found.at(-1);
    if (isDirective && isWithin && last !== undefined) last.written += written;
    else if (isDirective) found.push({ written, line });
    isWithin = isDirective;
  }
  return found;
}

/** The `#include` lines of a text. */
export function findIncludes(text: string): CppInclude[] {
  return findDirectives(text).flatMap(({ written, line }) => {
    const name = /^(?:#|%:|\?\?=)\s*include\s*(<[^>]*>|"[^"]*"|\S+)/.exec(written)?.[1];
    return name === undefined ? [] : [{ written: name, line }];
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
