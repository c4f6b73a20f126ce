import type { RepairFinding } from '../../../src/model/agent-work.ts';
import type { Question } from './question.ts';

/** The text of a titled section of a prompt; undefined where it has none of this title. */
export function sectionText({ prompt }: Pick<Question, 'prompt'>, title: string): string | undefined {
  const parts = prompt.split(/^=== (.+) ===$/m);
  const index = parts.findIndex((part, place) => place % 2 === 1 && part === title);
  return index === -1 ? undefined : parts[index + 1]!.trim();
}

/** What the prompt says is wrong, one JSON value a line. */
export function shownFindings(question: Pick<Question, 'prompt'>): RepairFinding[] {
  const text = sectionText(question, 'Findings') ?? '';
  const blank = { file: null, line: null, expected: null, got: null, clause: null };
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => ({ ...blank, ...(JSON.parse(line) as RepairFinding) }));
}

/** Ids of the clauses that a reviewer is to judge. */
export function listedClauses(question: Pick<Question, 'prompt'>): string[] {
  const text = sectionText(question, 'Clauses to judge') ?? '';
  return [...text.matchAll(/^\[([^\]\s]+)\] /gm)].map((match) => match[1]!);
}
