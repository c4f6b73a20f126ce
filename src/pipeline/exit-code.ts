import { errorCodes } from '../model/errors.ts';
import type { RunState } from '../model/run.ts';

/** Exit code of a run that has ended or was stopped between steps. */
export function exitCodeOf(state: RunState): 0 | 1 | 2 | 3 | 4 | 5 {
  if (state.status === 'cancelled') return 1;
  if (state.status === 'unverified') return 5;
  if (state.failure === undefined) return 0;
  if (state.failure.code === 'VERDICT_FAILED') return 1;
  return (errorCodes as Record<string, { exit: 2 | 3 | 4 }>)[state.failure.code]?.exit ?? 4;
}
