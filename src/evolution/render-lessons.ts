import { codeBlock, inlineText } from '../model/escape-text.ts';
import type { Lesson } from '../model/lesson.ts';
import type { Distilled } from './distil.ts';
import { toCommits } from './to-commits.ts';

const kindNames: Readonly<Record<Lesson['kind'], string>> = {
  'new-realization': 'new realization',
  'better-realization': 'faster realization',
  'more-evidence': 'evidence',
  'failure-mode': 'failure mode',
  'known-failure-mode': 'known failure mode',
  'model-fact': 'model',
  'platform-fact': 'device',
  clarification: 'gap of a contract',
};

/** Title of the knowledge pull request; plain text. */
export function renderLessonsTitle(lessons: readonly Lesson[], engine: string): string {
  const contracts = [...new Set(lessons.flatMap(({ contract }) => contract ?? []))];
  const what =
    contracts.length === 0
      ? 'facts'
      : contracts.length <= 3
        ? contracts.join(', ')
        : `${contracts.slice(0, 2).join(', ')} and ${contracts.length - 2} more contracts`;
  return `Knowledge: ${what}, learnt from ${engine}`.replace(/[\r\n@#<>]/g, ' ').slice(0, 200);
}

/** Body of the knowledge pull request: what merging changes, then each lesson with its reasons and files. */
export function renderLessons(
  { lessons, notes }: Pick<Distilled, 'lessons' | 'notes'>,
  knowledge: ReadonlyMap<string, string>,
): string {
  const commits = toCommits(lessons, knowledge);
  const sections = commits.map(({ lesson, writes }) => {
    const files = writes.map(
      ({ path, text }) => `${text === null ? 'D' : knowledge.has(path) ? 'M' : 'A'} ${path}`,
    );
    return `### ${inlineText(lesson.title, 200)}\n${kindNames[lesson.kind]}. ${lesson.says}\n\n${codeBlock(files.join('\n'))}`;
  });
  return [
    `## What merging changes\n${effectOf(lessons)}`,
    ...sections,
    ...(notes.length === 0
      ? []
      : [`## Seen and not taken over\n${notes.map((note) => `- ${inlineText(note)}`).join('\n')}`]),
  ].join('\n\n');
}

/** One paragraph for people who ask for engines. */
function effectOf(lessons: readonly Lesson[]): string {
  const of = (...kinds: readonly Lesson['kind'][]) => lessons.filter(({ kind }) => kinds.includes(kind));
  const contracts = [...new Set(of('new-realization').map(({ contract }) => contract ?? ''))];
  const failures = of('failure-mode').length;
  const deleted = lessons.filter(({ edits }) => edits.some(({ kind }) => kind === 'delete'));
  const clarified = of('clarification');
  const sentences = [
    ...(contracts.length === 0
      ? []
      : [
          `Engines for the targets below take ${contracts.map((id) => `\`${inlineText(id)}\``).join(', ')} from knowledge: no agent is asked for ${contracts.length === 1 ? 'it' : 'them'} any more.`,
        ]),
    ...(of('better-realization').length === 0
      ? []
      : ['Engines made from now on can be faster; those that exist stay as they are.']),
    ...(deleted.length === 0
      ? []
      : [
          `${deleted.length === 1 ? 'An older realization is' : `${deleted.length} older realizations are`} deleted: the new one is as fast or faster wherever it was measured.`,
        ]),
    ...(failures === 0
      ? []
      : [
          `${failures === 1 ? 'One more mistake is' : `${failures} more mistakes are`} described, and a mutation keeps the gate honest about ${failures === 1 ? 'it' : 'each'}.`,
        ]),
    ...(of('model-fact').length === 0 ? [] : ['A model can be named by an id.']),
    ...(clarified.length === 0
      ? []
      : ['A contract is to say more than before; its evidence must be recorded again.']),
  ];
  return sentences.length === 0
    ? 'Nothing for those who ask for engines: only what is known of verified runs, of mistakes and of devices grows.'
    : sentences.join(' ');
}
