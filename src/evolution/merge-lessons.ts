import { parse } from 'yaml';
import type { KnowledgeEdit, Lesson } from '../model/lesson.ts';

export interface MergedLessons {
  readonly lessons: readonly Lesson[];
  /** Fresh lessons that do not come in, and why: for the comment on the pull request. */
  readonly dropped: readonly { readonly title: string; readonly because: string }[];
}

/** Whether both teach something about one contract: then the fresh ones join the open pull request. */
export function sharesContract(open: readonly Lesson[], fresh: readonly Lesson[]): boolean {
  return open.some(({ contract }) => contract !== null && fresh.some((other) => other.contract === contract));
}

/**
 * The lessons of an open knowledge pull request with those of a later run, drawn from the same knowledge without the
 * pull request. What is under review stays as it is; what teaches the same does not come twice; names and numbers that
 * both took are changed in the fresh ones.
 */
export function mergeInto(open: readonly Lesson[], fresh: readonly Lesson[]): MergedLessons {
  const lessons = [...open];
  const dropped: { title: string; because: string }[] = [];
  const gone = new Set<string>();
  for (const [index, lesson] of renameClashes(open, fresh).entries()) {
    const verdict = judge(lesson, lessons, gone);
    if ('lesson' in verdict) lessons.push(verdict.lesson);
    else {
      dropped.push({ title: fresh[index]!.title, because: verdict.because });
      for (const path of createdIn(lesson, /\/realizations\//)) gone.add(path);
    }
  }
  return { lessons, dropped };
}

type Verdict = { readonly lesson: Lesson } | { readonly because: string };

function judge(lesson: Lesson, lessons: readonly Lesson[], gone: ReadonlySet<string>): Verdict {
  const twin = lessons.find(({ key }) => key === lesson.key);
  if (twin !== undefined)
    return lesson.kind === 'failure-mode' ? refer(lesson, twin) : { because: 'it is in there already' };
  const rival = lessons.find(
    (other) =>
      lesson.kind === 'new-realization' && isRealization(other) && purposeOf(other) === purposeOf(lesson),
  );
  if (rival !== undefined) return { because: `${rival.title} is for the same targets and under review` };
  const away = new Set([...gone, ...lessons.flatMap(deletedIn)]);
  const lost = neededBy(lesson).find((path) => away.has(path));
  if (lost !== undefined) return { because: `the realization that it is about, ${lost}, is not taken over` };
  return { lesson };
}

/** Realizations that it measures or breaks and does not bring along. */
function neededBy({ contract, edits }: Lesson): string[] {
  const folder = `contracts/${(contract ?? '').replace('.', '-')}/realizations`;
  const created = edits.flatMap((edit) => (edit.kind === 'create' ? [edit.path] : []));
  return edits
    .flatMap((edit) =>
      edit.kind === 'add-mutation' || edit.kind === 'add-evidence'
        ? [`${folder}/${edit.entry.realization}`]
        : [],
    )
    .filter((path) => !created.includes(path));
}

function deletedIn({ edits }: Lesson): string[] {
  return edits.flatMap((edit) => (edit.kind === 'delete' ? [edit.path] : []));
}

function isRealization({ kind }: Lesson): boolean {
  return kind === 'new-realization' || kind === 'better-realization';
}

/** Contract and predicate, as the key of a realization begins; its text's hash is the end. */
function purposeOf({ key }: Lesson): string {
  return key.slice(0, key.lastIndexOf(' '));
}

/** The same mistake again: one more reference in the entry that is under review. */
function refer(lesson: Lesson, twin: Lesson): Verdict {
  const [page] = lesson.edits.filter((edit) => edit.kind === 'create');
  const [path] = createdIn(twin, /^failure-modes\//);
  const reference = page === undefined ? undefined : referenceIn(page.text);
  if (path === undefined || reference === undefined || twin.run === lesson.run)
    return { because: 'it is in there already' };
  return {
    lesson: {
      ...lesson,
      kind: 'known-failure-mode',
      key: `reference ${path} ${reference}`,
      title: `${lesson.contract}: the same mistake again`,
      says: `The mistake of ${twin.title} was made again. One reference is added.`,
      commit: `knowledge(failure-modes): one more reference\n\nLearnt from: ${reference}`,
      edits: [{ kind: 'add-reference', path, reference }],
    },
  };
}

function referenceIn(page: string): string | undefined {
  const front = /^---\n([\s\S]*?\n)---\n/.exec(page)?.[1];
  return front === undefined
    ? undefined
    : (parse(front) as { readonly references?: readonly string[] }).references?.[0];
}

function createdIn({ edits }: Lesson, where: RegExp): string[] {
  return edits.flatMap((edit) => (edit.kind === 'create' && where.test(edit.path) ? [edit.path] : []));
}

/** Both were drawn from the same knowledge, so both may have taken the next number and the same file name. */
function renameClashes(open: readonly Lesson[], fresh: readonly Lesson[]): Lesson[] {
  const taken = new Map(
    open.flatMap(({ edits }) =>
      edits.flatMap((edit) => (edit.kind === 'create' ? [[edit.path, edit.text]] : [])),
    ),
  );
  const numbers = [...taken.keys()].flatMap(numberOf);
  let highest = Math.max(
    0,
    ...numbers,
    ...fresh.flatMap((lesson) => createdIn(lesson, /./).flatMap(numberOf)),
  );
  return fresh.reduce((renamed: readonly Lesson[], { edits }) => {
    const clashes = edits.filter(
      (edit) =>
        edit.kind === 'create' &&
        (isOther(taken, edit) || numberOf(edit.path).some((own) => numbers.includes(own))),
    );
    return clashes.reduce((lessons: readonly Lesson[], { path }) => {
      const [own] = numberOf(path);
      if (own !== undefined)
        return rename(lessons, new RegExp(`\\bfm-${own}(?!\\d)`, 'g'), `fm-${++highest}`);
      const file = path.slice(path.lastIndexOf('/') + 1);
      const folder = path.slice(0, path.lastIndexOf('/') + 1);
      const free = freeName(file, (name) => taken.has(`${folder}${name}`));
      return renameFile(lessons, path, `${folder}${free}`);
    }, renamed);
  }, fresh) as Lesson[];
}

function isOther(taken: ReadonlyMap<string | undefined, string | undefined>, edit: KnowledgeEdit): boolean {
  return edit.kind === 'create' && taken.has(edit.path) && taken.get(edit.path) !== edit.text;
}

function numberOf(path: string | undefined): number[] {
  const found = /^failure-modes\/fm-(\d+)-/.exec(path ?? '')?.[1];
  return found === undefined ? [] : [Number(found)];
}

function freeName(file: string, isTaken: (name: string) => boolean): string {
  const [stem, ending] = [file.replace(/\.\w+$/, ''), /\.\w+$/.exec(file)?.[0] ?? ''];
  for (let number = 2; ; number++)
    if (!isTaken(`${stem}-${number}${ending}`)) return `${stem}-${number}${ending}`;
}

/** In its page, its mutation and its words. */
function rename(lessons: readonly Lesson[], from: RegExp, to: string): readonly Lesson[] {
  return lessons.map((lesson) => rewrite(lesson, (text) => text.replace(from, to)));
}

/** A realization's file, in the lessons of its contract. */
function renameFile(lessons: readonly Lesson[], from: string, to: string): readonly Lesson[] {
  const [old, fresh] = [from, to].map((path) => path.slice(path.lastIndexOf('/') + 1)) as [string, string];
  const owner = lessons.find((lesson) => createdIn(lesson, /./).includes(from))?.contract;
  return lessons.map((lesson) =>
    lesson.contract === owner ? rewrite(lesson, (text) => text.replaceAll(old, fresh)) : lesson,
  );
}

/** Names change; what is bound to a hash (code, reports) and what a mutation looks for do not. */
function rewrite(lesson: Lesson, change: (text: string) => string): Lesson {
  const changed = <T>(value: T): T => JSON.parse(change(JSON.stringify(value))) as T;
  const { title, says, commit } = changed({ title: lesson.title, says: lesson.says, commit: lesson.commit });
  const edits = lesson.edits.map((edit): KnowledgeEdit => {
    if (edit.kind === 'create' && edit.path.startsWith('reports/')) return edit;
    if (edit.kind === 'create' && edit.path.startsWith('contracts/'))
      return { ...edit, path: change(edit.path) };
    if (edit.kind !== 'add-mutation') return changed(edit);
    return { ...edit, entry: { ...changed(edit.entry), edits: edit.entry.edits } };
  });
  return { ...lesson, title, says, commit, edits };
}
