import { Lexer } from 'yaml';
import type { Problem } from '../model/problem.ts';
import { type Place, showText } from './problem-list.ts';

/** yaml's composer recurses, and past some hundred levels it takes the whole process down; so depth is cut before it runs. */
const maxDepth = 16;

const scalarFollows = '\x1f';
const isControlToken = (token: string) => token === '\x02' || token === '\x18' || token === scalarFollows;

interface Scan {
  line: number;
  column: number;
  flowDepth: number;
  /** Block indicators (`-`, `?`) met so far on this line: each opens a level. */
  indicators: number;
}

const refused: Readonly<Record<string, { code: string; what: string }>> = {
  '&': { code: 'anchor', what: 'an anchor' },
  '*': { code: 'alias', what: 'an alias' },
  '!': { code: 'tag', what: 'a tag' },
  '%': { code: 'directive', what: 'a YAML directive' },
};

/** What must not reach the parser: anchors, aliases, tags, directives, and depth. Linear in the length of `text`. */
export function guardYaml(text: string): Problem[] {
  const scan: Scan = { line: 1, column: 1, flowDepth: 0, indicators: 0 };
  const found = new Map<string, { place: Place; token: string; count: number }>();
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (isControlToken(token)) {
      isScalar = token === scalarFollows;
      continue;
    }
    if (!isScalar && token[0]! in refused) noteRefused(found, token, scan);
    if (!isScalar && isTooDeep(token, scan)) return [tooDeep(scan)];
    isScalar = false;
    advance(scan, token);
  }
  return [...found].map(([first, { place, token, count }]) => {
    const { code, what } = refused[first]!;
    const more = count > 1 ? ` (${count} in this file)` : '';
    const message = `found ${what}, ${showText(token)}${more}; a constraint file holds plain values only.`;
    return {
      severity: 'error',
      code,
      ...place,
      message,
      suggestion: 'Write the value out, or put it in quotes if it is meant as text.',
    };
  });
}

function noteRefused(
  found: Map<string, { place: Place; token: string; count: number }>,
  token: string,
  scan: Scan,
): void {
  const earlier = found.get(token[0]!);
  if (earlier === undefined)
    found.set(token[0]!, { place: { line: scan.line, column: scan.column }, token, count: 1 });
  else earlier.count++;
}

function isTooDeep(token: string, scan: Scan): boolean {
  if (token === '[' || token === '{') scan.flowDepth++;
  else if (token === ']' || token === '}') scan.flowDepth = Math.max(0, scan.flowDepth - 1);
  else if (token === '-' || token === '?') scan.indicators++;
  return scan.flowDepth > maxDepth || scan.indicators > maxDepth;
}

function tooDeep(scan: Scan): Problem {
  const message = `found more than ${maxDepth} levels of nesting; a constraint file has three, an inline config.json a few more.`;
  return { severity: 'error', code: 'too-deep', line: scan.line, column: scan.column, message };
}

function advance(scan: Scan, token: string): void {
  const lastBreak = token.lastIndexOf('\n');
  if (lastBreak < 0) {
    scan.column += token.length;
    return;
  }
  scan.line += token.split('\n').length - 1;
  scan.column = token.length - lastBreak;
  scan.indicators = 0;
}
