import { type CppToken, findDirectives, tokenizeCpp } from '../../model/cpp-tokens.ts';

/**
 * What a header promises to whoever includes it: each declaration as its tokens, without comments and without the
 * bodies of functions, which may change. Macros count, includes and pragmas don't.
 */
export function listDeclarations(header: string): ReadonlySet<string> {
  const macros = findDirectives(header)
    .map(({ written }) => written.trim().replace(/\s+/g, ' '))
    .filter((line) => line.startsWith('#define'));
  return new Set([...macros, ...splitDeclarations(withoutBodies(tokenizeCpp(header)))]);
}

/** A body becomes `;`, and so does the list of initialisers in front of a constructor's. */
function withoutBodies(tokens: readonly CppToken[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const { text } = tokens[at]!;
    if (text === ':' && kept.at(-1) === ')') {
      const body = tokens.findIndex((token, index) => index > at && token.text === '{');
      if (body < 0) return [...kept, ...tokens.slice(at).map((token) => token.text)];
      at = body - 1;
    } else if (text === '{' && endsFunctionHead(kept)) {
      at = closingOf(tokens, at);
      kept.push(';');
    } else kept.push(text);
  }
  return kept;
}

function endsFunctionHead(kept: readonly string[]): boolean {
  const last = kept.findLast((text) => !['const', 'noexcept', 'override', 'final'].includes(text));
  return last === ')';
}

function closingOf(tokens: readonly CppToken[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at]!.text === '{') depth++;
    if (tokens[at]!.text === '}' && --depth === 0) return at;
  }
  return tokens.length - 1;
}

function splitDeclarations(tokens: readonly string[]): string[] {
  const found: string[] = [];
  let current: string[] = [];
  let depth = 0;
  for (const text of tokens) {
    if (text === '{' && depth === 0 && current[0] === 'namespace') {
      current = [];
      continue;
    }
    if (text === '}' && depth === 0) continue;
    if (text === '{' || text === '(') depth++;
    if (text === '}' || text === ')') depth--;
    if (text === ';' && depth === 0) {
      if (current.length > 0) found.push(current.join(' '));
      current = [];
    } else current.push(text);
  }
  return current.length > 0 ? [...found, current.join(' ')] : found;
}
