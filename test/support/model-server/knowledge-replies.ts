import { applyEdits } from '../../../src/local/sabotage.ts';
import type { SelectedContract, Selection } from '../../../src/model/catalog.ts';
import type { AgentRole } from '../../../src/model/language-model.ts';
import type { SabotageEntry } from '../../../src/model/sabotage.ts';
import { firstMismatch } from '../../../src/model/target.ts';
import type { Question } from './question.ts';
import type { Replies, Reply } from './reply.ts';
import { reviewAll } from './review-replies.ts';

/** One answer about one contract. */
export type ContractReply =
  /** Our realization. */
  | 'right'
  | 'prose'
  | 'declines'
  | 'empty-file'
  /** Our realization with a mistake that people make. */
  | { readonly mutated: SabotageEntry }
  /** Our realization with other text in places; each is to be found once. */
  | { readonly edits: SabotageEntry['edits'] }
  /** This file and nothing else. */
  | { readonly text: string }
  | ((question: Question, right: string, selected: SelectedContract) => Reply | Promise<Reply>);

export interface KnowledgeReplies {
  /** Contract → its answers by attempt; the last one stays. Default: `right`. */
  readonly contracts?: Readonly<Record<string, ContractReply | readonly ContractReply[]>>;
  /** Default: every clause is met. */
  readonly reviewer?: Replies;
  readonly diagnoser?: Replies;
  /** Default: as the implementer. */
  readonly optimizer?: Replies;
}

/** Our own realizations as a model's answers: what a model that is always right would write. */
export function repliesFromKnowledge(selection: Selection, overrides: KnowledgeReplies = {}): Replies {
  const byId = new Map(selection.contracts.map((entry) => [entry.contract.frontMatter.id, entry]));
  const implement: Replies = (question) => {
    const selected = question.contract === null ? undefined : byId.get(question.contract);
    if (selected === undefined) throw new Error(`no contract ${question.contract} in the selection`);
    const right = rightText(selected, selection);
    const scripted = overrides.contracts?.[question.contract!] ?? 'right';
    const list = Array.isArray(scripted)
      ? (scripted as readonly ContractReply[])
      : [scripted as ContractReply];
    const reply = list[Math.min(question.attempt, list.length) - 1] ?? 'right';
    return typeof reply === 'function' ? reply(question, right, selected) : toReply(reply, right, selected);
  };
  const byRole: Readonly<Record<AgentRole, Replies>> = {
    implementer: implement,
    optimizer: overrides.optimizer ?? implement,
    reviewer: overrides.reviewer ?? reviewAll('met'),
    diagnoser: overrides.diagnoser ?? (() => ({ kind: 'json', value: { suspects: [] } })),
  };
  return (question, signal) => byRole[question.role ?? 'implementer'](question, signal);
}

/** The file that fills a contract: its header's name with another ending. */
export function sourceName(selected: SelectedContract): string {
  return selected.contract.header.name.replace(/\.h$/, '.cpp');
}

/** Our realization for the selection's target, without the lines that are for the planner. */
export function rightText(selected: SelectedContract, { target }: Selection): string {
  const { contract } = selected;
  const applicable = contract.realizations.filter(
    (entry) => entry.replaces.length === 0 && firstMismatch(entry.applies, target) === undefined,
  );
  const realization = selected.realization ?? applicable[0];
  if (realization === undefined) throw new Error(`${contract.frontMatter.id}: no realization applies`);
  return withoutSelectors(realization.text);
}

/** The realization that the entry is about, broken as it says. */
export function mutatedText({ contract }: SelectedContract, entry: SabotageEntry): string {
  const realization = contract.realizations.find(({ file }) => file === entry.realization);
  if (realization === undefined) throw new Error(`${entry.id}: no realization ${entry.realization}`);
  return withoutSelectors(applyEdits(realization.text, entry));
}

function withoutSelectors(text: string): string {
  return text.replace(/^\/\/ (?:applies|requires|replaces):.*\n/gm, '');
}

type PlainReply = Exclude<ContractReply, (...args: never) => unknown>;

function toReply(reply: PlainReply, right: string, selected: SelectedContract): Reply {
  if (reply === 'prose') return { kind: 'text', text: 'I would begin with the loop over the rows.' };
  if (reply === 'declines') return { kind: 'refusal', text: "I can't help with that." };
  return fileReply(selected, textOf(reply, right, selected));
}

export function fileReply(selected: SelectedContract, text: string): Reply {
  return { kind: 'files', files: [{ path: sourceName(selected), text }] };
}

function textOf(
  reply: Exclude<PlainReply, 'prose' | 'declines'>,
  right: string,
  selected: SelectedContract,
): string {
  if (reply === 'right') return right;
  if (reply === 'empty-file') return '';
  if ('text' in reply) return reply.text;
  if ('mutated' in reply) return mutatedText(selected, reply.mutated);
  return reply.edits.reduce((text, { find, replace }) => {
    if (text.split(find).length !== 2) throw new Error(`not there exactly once: ${find}`);
    return text.replace(find, () => replace);
  }, right);
}
