import type { RunRecord } from '../../model/run-record.ts';

/** The steps that this instance performs now: which run each is about, and how it is told to stop. */
export interface ActiveSteps {
  /** A step of the repository begins; `end` it in any case. */
  begin(repositoryId: number): { readonly cancelled: AbortSignal; end(): void };
  /** The run that the repository's step is about. One whose cancellation is taken up by it isn't cancelled again. */
  note(repositoryId: number, run: RunRecord): void;
  /** The ids of runs whose steps could be cancelled. */
  cancellable(): readonly string[];
  cancel(runId: string): void;
}

export function createActiveSteps(): ActiveSteps {
  const steps = new Map<number, { readonly controller: AbortController; runId: string | null }>();
  return {
    begin: (repositoryId) => {
      const step = { controller: new AbortController(), runId: null };
      steps.set(repositoryId, step);
      const end = (): void => {
        if (steps.get(repositoryId) === step) steps.delete(repositoryId);
      };
      return { cancelled: step.controller.signal, end };
    },
    note: (repositoryId, run) => {
      const step = steps.get(repositoryId);
      if (step !== undefined) step.runId = run.isCancelRequested ? null : run.id;
    },
    cancellable: () => [...steps.values()].flatMap((step) => step.runId ?? []),
    cancel: (runId) => {
      for (const step of steps.values()) if (step.runId === runId) step.controller.abort();
    },
  };
}
