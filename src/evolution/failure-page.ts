import { stringify } from 'yaml';
import { codeBlock, inlineText, shorten } from '../model/escape-text.ts';
import type { FailureModeFrontMatter } from '../model/failure-mode.ts';
import type { Rejection } from './list-rejections.ts';
import type { Reversion } from './revert-edits.ts';

/** The case of a unit gate that a finding is about: its message begins with `mlp.gated#basic`. */
export function caseOf({ contract, findings }: Pick<Rejection, 'contract' | 'findings'>): string | undefined {
  const [first] = findings;
  const start = `${contract}#`;
  const at = first?.source === 'unit' ? first.message.indexOf(start) : -1;
  return at < 0 ? undefined : /^[a-z0-9_]+/.exec(first!.message.slice(at + start.length))?.[0];
}

/** Where and when it happened, for the references of a failure mode. */
export function referenceTo(
  rejection: Rejection,
  run: { readonly id: string; readonly engine: string },
): string {
  const { contract, attempt, mendedBy, findings } = rejection;
  return oneLine(
    `run ${run.id} (${run.engine}): ${contract}, attempt ${attempt}, rejected by ${findings[0]!.source}, mended in attempt ${mendedBy}`,
  );
}

/** The front matter of a new failure mode: words of the finding and of the two texts, none of its own. */
export function describeFailure(
  id: string,
  rejection: Rejection,
  places: Reversion['places'],
  reference: string,
): FailureModeFrontMatter {
  const { contract, findings } = rejection;
  const [{ message, source, clause }] = findings as [Rejection['findings'][number]];
  const caseId = caseOf(rejection);
  const [{ right, wrong }] = places as [Reversion['places'][number]];
  const more = places.length === 1 ? '' : ` (and ${places.length - 1} more places)`;
  return {
    id,
    title: `${contract}: ${quote(wrong, 70)} where ${quote(right, 70)} is right`,
    symptom: shorten(oneLine(message), 300),
    cause: `The text has ${quote(wrong, 200)} where the accepted one has ${quote(right, 200)}${more}.${clause === null ? '' : ` The contract: ${quote(clause, 300)}.`}`,
    gates: [caseId === undefined ? source : `${contract}#${caseId}`],
    contracts: [contract],
    references: [reference],
  };
}

/** failure-modes/<id>-<slug>.md. What came from a gate or a model stands in code blocks or is escaped. */
export function renderFailurePage(
  front: FailureModeFrontMatter,
  rejection: Rejection,
  places: Reversion['places'],
  mutation: string,
): string {
  const [{ expected, got, source }] = rejection.findings as [Rejection['findings'][number]];
  const told = [
    ...(expected === null ? [] : [`expected: ${oneLine(expected)}`]),
    ...(got === null ? [] : [`got:      ${oneLine(got)}`]),
  ];
  const wrong = places.map((place) => place.wrong).join('\n…\n');
  const right = places.map((place) => place.right).join('\n…\n');
  return [
    `---\n${stringify(front, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' })}---`,
    `## How it looks\nThe gate \`${source}\` rejected the text of an agent:\n${codeBlock(told.length === 0 ? front.symptom : told.join('\n'))}`,
    `What stood there:\n${codeBlock(wrong, 'cpp')}`,
    `## How to be right\n${codeBlock(right, 'cpp')}`,
    `## How to see it\n${inlineText(front.gates.join(', '))}; the mutation \`${mutation}\` of \`sabotage.yaml\` makes the mistake again.\n`,
  ].join('\n\n');
}

/** `fm-49` and the contract with its case: `fm-49-mlp-gated-basic`. */
export function slugOf(id: string, rejection: Rejection): string {
  const seen = caseOf(rejection) ?? rejection.findings[0]!.source;
  return `${id}-${rejection.contract}-${seen}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

function quote(text: string, length: number): string {
  const line = shorten(oneLine(text).replace(/`/g, "'"), length);
  return line === '' ? 'nothing' : `\`${line}\``;
}

function oneLine(text: string): string {
  return text
    .replace(/[\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/g, ' ')
    .trim();
}
