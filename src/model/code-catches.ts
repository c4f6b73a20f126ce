import { findClosing } from './code-shapes.ts';
import type { CppToken } from './cpp-tokens.ts';

type Tokens = readonly CppToken[];

/**
 * A `catch` that loses what was thrown. In CUDA C++, where a failed call is told by throwing, each must end by throwing;
 * elsewhere those that catch everything must, or keep it for another thread.
 */
export function judgeCatch(tokens: Tokens, index: number, isCuda: boolean): string | undefined {
  if (tokens[index]!.text !== 'catch') return undefined;
  const head = findClosing(tokens, index + 1) ?? tokens.length;
  const close = findClosing(tokens, head + 1);
  const body = tokens.slice(head + 2, close);
  const catchesAll = tokens[index + 2]?.text === '.';
  const keeps = !isCuda && body.some(({ text }) => text === 'current_exception');
  if (!isCuda && (catchesAll ? keeps : body.some(({ text }) => text !== ';'))) return undefined;
  const leaves = body.some(({ text }) => /^(?:return|goto|break|continue|co_return)$/.test(text));
  if (!leaves && endsByThrowing(body)) return undefined;
  return catchesAll || isCuda
    ? 'a catch that does not end by throwing is not allowed here'
    : 'a catch without a body is not allowed';
}

/** Whether the last statement, by itself and not within another, begins with `throw`. */
function endsByThrowing(body: Tokens): boolean {
  if (body.at(-1)?.text !== ';') return false;
  let depth = 0;
  let at = body.length - 2;
  for (; at >= 0; at--) {
    const { text } = body[at]!;
    if (text === ')' || text === ']') depth++;
    else if (text === '(' || text === '[') depth--;
    else if (depth === 0 && /^[;{}]$/.test(text)) break;
  }
  return body[at + 1]?.text === 'throw';
}
