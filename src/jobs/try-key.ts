import type { RunState } from '../model/run.ts';

/**
 * Names one try of a run, for what is said once in each: the attempts that runners were asked for, and how often the run
 * was taken up again. A retry may end before its dispatch, and is answered all the same.
 */
export function tryKey({ attempt, retries = 0 }: Pick<RunState, 'attempt' | 'retries'>): string {
  return retries === 0 ? `${attempt}` : `${attempt}.${retries}`;
}
