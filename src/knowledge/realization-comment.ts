import type { Realization } from '../model/contract.ts';
import type { Problem } from '../model/problem.ts';
import { type Predicate, type TargetKey, type TargetValue, targetKeys } from '../model/target.ts';
import type { TreeFile } from './read-tree.ts';

const listNames = ['requires', 'replaces', 'fuses'] as const;

/**
 * Reads the opening comment of a realization: the SPDX line, what it is, and the lines
 * `// applies: key=value|value2, key=value`, `// requires: id, id`, `// replaces: id`, `// fuses: id`.
 */
export function parseRealization(
  file: TreeFile,
  contractId: string,
): { readonly realization: Realization; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const report = (line: number, code: string, message: string) =>
    problems.push({ severity: 'error', code, file: file.path, line, column: 1, message });
  const comment = openingComment(file.text);
  if (comment[0] !== '// SPDX-License-Identifier: MIT') {
    report(1, 'no-license-line', 'the first line must be "// SPDX-License-Identifier: MIT"');
  }
  if (!isSummary(comment[1] ?? '', contractId)) {
    report(
      2,
      'no-summary-line',
      `the second line must start with "// ${contractId}" and say what the file does`,
    );
  }
  const appliesAt = comment.findIndex((line) => line.startsWith('// applies:'));
  if (appliesAt < 0)
    report(1, 'no-applies-line', 'the opening comment needs a line "// applies: key=value, …"');
  const written = appliesAt < 0 ? '' : (comment[appliesAt] ?? '').slice('// applies:'.length);
  const applies = parsePredicate(written, (message) => report(appliesAt + 1, 'bad-applies', message));
  const lists = listNames.map((name) => {
    const line = comment.find((text) => text.startsWith(`// ${name}:`));
    return (line ?? '')
      .slice(`// ${name}:`.length)
      .split(',')
      .map((id) => id.trim())
      .filter((id) => id !== '');
  });
  const realization: Realization = {
    file: file.path.slice(file.path.lastIndexOf('/') + 1),
    text: file.text,
    sha256: file.sha256,
    applies,
    requires: lists[0] ?? [],
    replaces: lists[1] ?? [],
    fuses: lists[2] ?? [],
  };
  return { realization, problems };
}

function openingComment(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const end = lines.findIndex((line) => !line.startsWith('//'));
  return lines.slice(0, end < 0 ? lines.length : end);
}

/** `hardware.platform=cpu-x86_64, numerics.weights=bf16|f32`. `any` is the predicate that always holds. */
export function parsePredicate(written: string, onProblem: (message: string) => void): Predicate {
  const predicate: Partial<Record<TargetKey, TargetValue | readonly TargetValue[]>> = {};
  const parts = written
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== 'any');
  for (const part of parts) {
    const [key = '', ...rest] = part.split('=');
    const name = targetKeys.find((known) => known === key.trim());
    const values = rest
      .join('=')
      .split('|')
      .map((value) => toTargetValue(value.trim()));
    if (name === undefined) onProblem(`unknown key ${key.trim()}; known: ${targetKeys.join(', ')}`);
    else if (rest.length === 0 || values.includes(''))
      onProblem(`expected ${name}=value or ${name}=value|value`);
    else if (predicate[name] !== undefined) onProblem(`${name} is stated twice`);
    else predicate[name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  return predicate;
}

function toTargetValue(written: string): TargetValue {
  if (written === 'true' || written === 'false') return written === 'true';
  return /^-?\d+(?:\.\d+)?$/.test(written) ? Number(written) : written;
}

function isSummary(line: string, contractId: string): boolean {
  const start = `// ${contractId}`;
  return line.startsWith(start) && /^[:,] ./.test(line.slice(start.length));
}
