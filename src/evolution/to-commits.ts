import { parse } from 'yaml';
import type { Evidence } from '../model/contract.ts';
import { AppError } from '../model/errors.ts';
import type { KnowledgeEdit, Lesson } from '../model/lesson.ts';
import type { SabotageEntry } from '../model/sabotage.ts';
import { clarifyContract } from './clarify-contract.ts';
import { addToList, addToMap, dropFromList } from './yaml-list.ts';

/** One lesson as files: what a knowledge pull request commits. */
export interface KnowledgeCommit {
  readonly lesson: Lesson;
  readonly message: string;
  /** Paths below knowledge/; null for a file that goes. */
  readonly writes: readonly { readonly path: string; readonly text: string | null }[];
}

/**
 * The lessons as commits on knowledge as it is now, one after the other: each builds on those before it. A lesson that
 * knowledge holds already gives none. @throws AppError KNOWLEDGE_INVALID where a file to change is not there, or holds
 * something else
 */
export function toCommits(
  lessons: readonly Lesson[],
  knowledge: ReadonlyMap<string, string>,
): KnowledgeCommit[] {
  const tree = new Map(knowledge);
  return lessons.flatMap((lesson) => {
    const before = new Map(tree);
    for (const edit of lesson.edits) applyEdit(edit, tree);
    const touched = [...new Set(lesson.edits.map(({ path }) => path))];
    const writes = touched
      .filter((path) => tree.get(path) !== before.get(path))
      .map((path) => ({ path, text: tree.get(path) ?? null }));
    return writes.length === 0 ? [] : [{ lesson, message: lesson.commit, writes }];
  });
}

/** Knowledge with the lessons in it. */
export function withLessons(
  lessons: readonly Lesson[],
  knowledge: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const tree = new Map(knowledge);
  for (const { path, text } of toCommits(lessons, knowledge).flatMap(({ writes }) => writes)) {
    if (text === null) tree.delete(path);
    else tree.set(path, text);
  }
  return tree;
}

function applyEdit(edit: KnowledgeEdit, tree: Map<string, string>): void {
  const { path } = edit;
  const text = tree.get(path);
  switch (edit.kind) {
    case 'create':
      if (text !== undefined && text !== edit.text) throw refuse(path, 'holds another text already');
      tree.set(path, edit.text);
      return;
    case 'delete':
      tree.delete(path);
      return;
    case 'add-evidence':
      tree.set(path, addEvidence(text ?? '', edit.entry));
      return;
    default:
      if (text === undefined) throw refuse(path, 'is not there');
      tree.set(path, changeText(edit, text));
  }
}

type TextEdit = Exclude<KnowledgeEdit, { readonly kind: 'create' | 'delete' | 'add-evidence' }>;

function changeText(edit: TextEdit, text: string): string {
  switch (edit.kind) {
    case 'drop-evidence':
      return dropFromList(text, undefined, (item) => (item as Evidence).realization === edit.realization);
    case 'add-reference':
      return addReference(text, edit.reference);
    case 'add-mutation':
      return hasItem(text, 'mutations', edit.entry.id)
        ? text
        : addToList(text, 'mutations', [withoutDefaults(edit.entry)]);
    case 'add-checkpoint':
      return Object.hasOwn((parse(text) as { checkpoints: object }).checkpoints, edit.name)
        ? text
        : addToMap(text, 'checkpoints', edit.name, { config: edit.config });
    case 'add-model':
      return hasItem(text, 'models', edit.entry.id) ? text : addToList(text, 'models', [edit.entry]);
    case 'add-measurement':
      return addToList(text, 'measured', [edit.entry]);
    case 'clarify':
      return clarifyContract(text, edit.statement);
  }
}

/** As people write them. */
function withoutDefaults({ also, weights, ...entry }: SabotageEntry): object {
  const { edits, ...head } = entry;
  return {
    ...head,
    ...(also.length === 0 ? {} : { also }),
    ...(weights === 'bf16' ? {} : { weights }),
    edits,
  };
}

function hasItem(text: string, key: string, id: unknown): boolean {
  const list = (parse(text) as Record<string, readonly { readonly id?: unknown }[] | undefined>)[key];
  return list?.some((item) => item.id === id) === true;
}

/** The same run does not count twice. */
function addEvidence(text: string, entry: Evidence): string {
  const known = (text === '' ? [] : (parse(text) as readonly Evidence[])) ?? [];
  const isThere = known.some(
    ({ realization, report }) => realization === entry.realization && report === entry.report,
  );
  if (isThere) return text;
  return addToList(known.length === 0 ? '' : text, undefined, [entry]);
}

function addReference(page: string, reference: string): string {
  const front = /^---\n([\s\S]*?\n)---\n/.exec(page)?.[1];
  if (front === undefined) return page;
  const known = (parse(front) as { readonly references?: readonly string[] }).references ?? [];
  return known.includes(reference)
    ? page
    : page.replace(front, () => addToList(front, 'references', [reference]));
}

function refuse(path: string, what: string): AppError {
  return new AppError(
    'KNOWLEDGE_INVALID',
    `A lesson changes ${path}, which ${what}: knowledge changed since the lesson was drawn. Draw it anew with \`metainfer knowledge learn\`.`,
  );
}
