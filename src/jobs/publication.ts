import type { RunDocuments, RunRecord } from '../model/run-record.ts';

/** One commit of an engine's files: by which key it is found again, and what it says of itself. */
export interface Publication {
  readonly key: string;
  readonly message: string;
  /** For the trailer `Metainfer-Phase`. */
  readonly phase: string;
  /** More commits of this engine follow. */
  readonly isPartial: boolean;
}

export function describePublication(
  { state, source }: Pick<RunRecord, 'state' | 'source'>,
  { phases = [] }: Pick<RunDocuments['engine'], 'phases'>,
): Publication {
  const { name } = state.constraints!;
  const { agents } = state;
  const asked = `Generated for ${source.kind === 'issue' ? 'issue' : 'pull request'} #${source.number}.`;
  if (agents === undefined || agents.contracts.length === 0)
    return {
      ...{ key: 'engine', phase: 'engine', isPartial: false },
      message: `feat(engines): ${name}\n\n${asked}`,
    };
  const attempts = agents.contracts.reduce((sum, { totalAttempts }) => sum + totalAttempts, 0);
  const phase = phases.length === 0 ? 'engine' : phases.join(', ');
  const kind = state.attempt === 0 ? 'feat' : 'fix';
  return {
    // Attempts only grow within a run, and one that began anew has other bytes.
    key: `engine:${attempts}:${state.engineTreeSha256!.slice(0, 12)}`,
    phase,
    isPartial: agents.stop === null && agents.contracts.some(({ status }) => status === 'open'),
    message: `${kind}(engines): ${name}, ${phase}\n\n${asked}`,
  };
}
