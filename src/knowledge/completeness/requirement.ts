import type { Problem } from '../../model/problem.ts';
import { type LoadedContract, pageProblem } from '../contract-folder.ts';
import { type ContractSection, listSections } from '../contract-sections.ts';

/** One thing that a contract must state. */
export interface Requirement {
  /** The rule, kebab-case: `shape`, `tie-break`. */
  readonly rule: string;
  readonly isMet: boolean;
  /** What is missing, where. */
  readonly hole: Problem;
}

/** A contract as whoever builds it from its text alone sees it. */
export interface ContractPage {
  readonly loaded: LoadedContract;
  readonly sections: readonly ContractSection[];
  /** Below the front matter. */
  readonly body: string;
  /** All sections but those that explain: Cost, Example, What people get wrong. */
  readonly demands: string;
}

export function readPage(loaded: LoadedContract, page: string): ContractPage {
  const sections = listSections(page);
  const demanding = sections.filter(({ title }) => !/^(?:cost|example|what people get wrong)/i.test(title));
  return {
    loaded,
    sections,
    body: loaded.contract.body,
    demands: demanding.map(({ text }) => text).join('\n'),
  };
}

export function sectionText({ sections }: ContractPage, title: string): string {
  return sections
    .filter((section) => section.title.startsWith(title))
    .map(({ text }) => text)
    .join('\n');
}

/** Line of a heading; of the nearest place that exists otherwise. */
export function sectionLine({ sections }: ContractPage, title: string): number {
  return sections.find((section) => section.title.startsWith(title))?.line ?? sections.at(-1)?.line ?? 1;
}

/** At a field of the front matter. */
export function requireField(
  page: ContractPage,
  rule: string,
  path: (string | number)[],
  isMet: boolean,
  missing: string,
  severity: Problem['severity'] = 'error',
): Requirement {
  return {
    rule,
    isMet,
    hole: { ...pageProblem(page.loaded, `hole-${rule}`, path, missing), severity },
  };
}

/** At a line of the text. */
export function requireText(
  page: ContractPage,
  rule: string,
  line: number,
  isMet: boolean,
  missing: string,
  severity: Problem['severity'] = 'error',
): Requirement {
  const file = `contracts/${page.loaded.contract.folder}/contract.md`;
  return { rule, isMet, hole: { severity, code: `hole-${rule}`, file, line, message: missing } };
}

export function hasWord(text: string, word: string): boolean {
  return new RegExp(`(?<![\\w])${word.replace(/\W/g, '\\$&')}(?![\\w])`).test(text);
}
