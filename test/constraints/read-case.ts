import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ParsedConstraints, parseConstraints } from '../../src/constraints/parse-constraints.ts';
import { formatProblem } from '../../src/model/problem.ts';
import { knownModels } from './known-models.ts';
import { knownPlatforms } from './known-platforms.ts';

const fixtures = join(import.meta.dirname, '../fixtures/constraints');

export const validText = readFileSync(join(fixtures, '00-valid.yaml'), 'utf8');

/** Parses as from the command line; `parsed.errors` and `parsed.warnings` are printed problems. */
export function read(text: string, origin: 'command-line' | 'github' = 'command-line') {
  const parsed: ParsedConstraints = parseConstraints(text, {
    fileName: 'c.yaml',
    origin,
    catalogModels: knownModels,
    catalogPlatforms: knownPlatforms,
  });
  const printed = (severity: 'error' | 'warning') =>
    parsed.problems.filter((problem) => problem.severity === severity).map(formatProblem);
  return { ...parsed, errors: printed('error'), warnings: printed('warning') };
}

export function readCase(file: string) {
  return read(readFileSync(join(fixtures, file), 'utf8'));
}

/** The valid file with one line replaced, found by its trimmed beginning. */
export function withLine(beginning: string, ...replacement: string[]): string {
  const lines = validText.split('\n');
  const index = lines.findIndex((line) => line.trim().startsWith(beginning));
  if (index < 0) throw new Error(`no line begins with ${beginning}`);
  return [...lines.slice(0, index), ...replacement, ...lines.slice(index + 1)].join('\n');
}
