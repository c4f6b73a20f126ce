import type { Learnt, Lesson } from '../model/lesson.ts';
import { learnClarifications } from './learn-clarifications.ts';
import { learnFacts } from './learn-facts.ts';
import { learnFailures } from './learn-failures.ts';
import { learnRealizations } from './learn-realizations.ts';
import { toCommits } from './to-commits.ts';

/** What a run taught, in the order in which it is to be committed. */
export interface Distilled {
  readonly lessons: readonly Lesson[];
  /** Why there is nothing to learn; null where there is something. For the run record. */
  readonly reasonIfNone: string | null;
  /** What was seen and not taken over, and why: for the pull request and the record. */
  readonly notes: readonly string[];
}

/** From what a run left behind to changes of knowledge. Pure: no model, no clock, no disk; the same run teaches the same. */
export function distil(learnt: Learnt): Distilled {
  const realizations = learnRealizations(learnt);
  const failures = learnFailures(learnt, realizations.placed);
  const facts = learnFacts(learnt);
  const found = [
    ...realizations.lessons,
    ...failures.lessons,
    ...facts.lessons,
    ...learnClarifications(learnt),
  ];
  // What knowledge holds already is no lesson.
  const lessons = toCommits(found, learnt.knowledge).map(({ lesson }) => lesson);
  const notes = [...realizations.notes, ...failures.notes, ...facts.notes];
  return { lessons, notes, reasonIfNone: lessons.length > 0 ? null : whyNothing(learnt, notes) };
}

function whyNothing({ files, report }: Learnt, notes: readonly string[]): string {
  if (notes.length > 0) return `Nothing to learn: ${notes.join('; ')}.`;
  if (files.size > 0) return 'Nothing to learn: knowledge holds all of it already.';
  return report === null
    ? 'Nothing to learn: no agent wrote anything, and the engine was not verified.'
    : 'Nothing to learn: the engine was composed of what knowledge holds, for a model and a device that it lists.';
}
