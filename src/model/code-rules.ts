import { judgeCatch } from './code-catches.ts';
import {
  cudaDirective,
  cudaIncludes,
  cudaReserved,
  findDeviceMemory,
  judgeCudaName,
  judgeLaunch,
  judgeNameBeside,
  judgePlace,
} from './code-cuda.ts';
import { findConstants, judgeArray, judgeUnroll } from './code-limits.ts';
import {
  allowedIncludes,
  allowedReserved,
  forbiddenWords,
  grants,
  isForbiddenName,
  rawStringContracts,
} from './code-names.ts';
import { judgeAttribute, judgeBrackets, judgeGrantedCall, judgeLiteral, judgeModes } from './code-shapes.ts';
import { stripCommentsAndStrings } from './cpp-text.ts';
import { type CppToken, findDirectives, findIncludes, tokenizeCpp } from './cpp-tokens.ts';

export interface StaticFault {
  readonly line: number;
  readonly message: string;
}

export interface StaticScan {
  /** Headers of the engine folder that may be included. */
  readonly headers: ReadonlySet<string>;
  /** Whose file it is; null for config.h, which the composer writes and which holds the model's own texts. */
  readonly contract: string | null;
  /** Default C++; see isCudaFile. */
  readonly language?: 'c++' | 'cuda';
}

/** Everything in one C++ text that generated code may not hold. */
export function scanSource(text: string, scan: StaticScan): StaticFault[] {
  const tokens = tokenizeCpp(text);
  const granted = new Set(grants[scan.contract ?? ''] ?? []);
  const isReader =
    granted.has('ifstream') && !granted.has('ofstream') && tokens.some((token) => token.text === 'ifstream');
  return [
    ...scanLines(text),
    ...scanDirectives(text, scan),
    ...scanStatements(tokens, scan.language === 'cuda'),
    ...tokens.flatMap((token, index) => {
      const message =
        judgeToken(tokens, index, scan, granted) ?? (isReader ? judgeModes(tokens, index) : undefined);
      return message === undefined ? [] : [{ line: token.line, message }];
    }),
  ];
}

/** What takes more than a name to see: arrays that are too large, faults that are lost, memory taken by kernels. */
function scanStatements(tokens: readonly CppToken[], isCuda: boolean): StaticFault[] {
  const constants = findConstants(tokens);
  const taken = new Set(isCuda ? findDeviceMemory(tokens) : []);
  return tokens.flatMap(({ line, text }, index) => {
    const message =
      judgeArray(tokens, index, constants) ??
      judgeCatch(tokens, index, isCuda) ??
      (taken.has(index) ? `${text} is not allowed in device code` : undefined);
    return message === undefined ? [] : [{ line, message }];
  });
}

/** Nothing may look otherwise than it is compiled: such lines are refused whatever they hold, in comments as well. */
function scanLines(text: string): StaticFault[] {
  const bare = stripCommentsAndStrings(text).split('\n');
  return text.split('\n').flatMap((line, index) => {
    const code = bare[index] ?? '';
    const messages = [
      ...(/\\\s*$/.test(line) ? ['a line continued by a backslash is not allowed'] : []),
      ...(/\?\?[=()/'<>!-]/.test(line) ? ['a trigraph is not allowed'] : []),
      ...(/<%|%>|%:|:>|<:(?!:)|<::[:>]/.test(code) ? ['a digraph is not allowed'] : []),
      // Tab and line feed are the only control characters that C++ needs.
      ...(/[^\P{Cc}\t]|\p{Cf}/u.test(line) ? ['a control character or an invisible one is not allowed'] : []),
      ...(/[^\p{ASCII}]/u.test(code) ? ['a letter of another script is not allowed in code'] : []),
    ];
    return messages.map((message) => ({ line: index + 1, message }));
  });
}

const allowedDirective =
  /^#(?:[ \t]*include[ \t]*(?:<[\w./]+>|"[\w./]+")|pragma once|pragma GCC unroll \d+)[ \t]*(?:\/\/.*)?$/;

function scanDirectives(text: string, scan: StaticScan): StaticFault[] {
  const lines = text.split('\n');
  const faults: StaticFault[] = [];
  const isCuda = scan.language === 'cuda';
  for (const { written, line } of findDirectives(text)) {
    const bare = written.trimEnd();
    if (!allowedDirective.test(bare) && !(isCuda && cudaDirective.test(bare)))
      faults.push({ line, message: `the directive ${written.trim().slice(0, 60)} is not allowed` });
    else if (!/^[ \t]*#/.test(lines[line - 1] ?? ''))
      faults.push({ line, message: 'a directive behind a comment is not allowed' });
    const unrolled = judgeUnroll(bare);
    if (unrolled !== undefined) faults.push({ line, message: unrolled });
  }
  for (const { written, line } of findIncludes(text)) {
    const name = written.slice(1, -1);
    const isKnown = written.startsWith('"')
      ? scan.headers.has(name)
      : written.startsWith('<') && (allowedIncludes.has(name) || (isCuda && cudaIncludes.has(name)));
    if (!isKnown) faults.push({ line, message: `#include ${written} is not allowed` });
  }
  return faults;
}

function judgeToken(
  tokens: readonly CppToken[],
  index: number,
  scan: StaticScan,
  granted: ReadonlySet<string>,
): string | undefined {
  const { kind, text } = tokens[index]!;
  const { contract } = scan;
  const isCuda = scan.language === 'cuda';
  if (kind === 'identifier') return judgeName(tokens, index, scan, granted);
  if (kind === 'punctuation') {
    // Also a quotation mark without its other half.
    if (/^[\\#$@`"']$/.test(text)) return `${text} is not allowed in code`;
    return judgeBrackets(tokens, index) ?? (isCuda ? judgeLaunch(tokens, index) : undefined);
  }
  if (kind !== 'literal') return undefined;
  const isRaw = /^(?:u8|[uUL])?R"/.test(text) || /^(?:u8|[uUL])?R$/.test(tokens[index - 1]?.text ?? '');
  const mayBeRaw = (contract === null || rawStringContracts.has(contract)) && !text.includes('\n');
  if (isRaw && !mayBeRaw) return 'a raw string is not allowed';
  return contract === null ? undefined : judgeLiteral(tokens, index);
}

function judgeName(
  tokens: readonly CppToken[],
  index: number,
  scan: StaticScan,
  granted: ReadonlySet<string>,
): string | undefined {
  const name = tokens[index]!.text;
  const isCuda = scan.language === 'cuda';
  // One contract is there to hold the instructions that CUDA C++ has no words for.
  if (name === 'asm' && isCuda && scan.contract === 'cuda.instructions') return undefined;
  if (forbiddenWords.has(name)) return `${name} is not allowed`;
  if (/^_|__/.test(name)) {
    const allowed = isCuda ? [...allowedReserved, ...cudaReserved] : allowedReserved;
    if (!allowed.some((pattern) => pattern.test(name)))
      return `${name} is not allowed: such names are the implementation's`;
    return name === '__attribute__' ? judgeAttribute(tokens, index) : undefined;
  }
  const after = tokens[index + 1]?.text ?? '';
  if (name === 'operator' && (after === 'new' || after === 'delete'))
    return `operator ${after} is not allowed: it would serve the whole program`;
  const before = tokens[index - 1]?.text;
  const ofCuda =
    judgePlace(name) ?? (isCuda ? judgeCudaName(tokens, index, scan.contract) : judgeNameBeside(name));
  if (ofCuda !== undefined) return ofCuda;
  // Behind three dots stands no member.
  const isMember = before === '->' || (before === '.' && tokens[index - 2]?.text !== '.');
  if (isMember || !isForbiddenName(name)) return undefined;
  return granted.has(name) ? judgeGrantedCall(tokens, index) : `${name} is not allowed`;
}
