/** What GitHub Actions holds for a repository. Owned by the actions routes; world.ts only makes it part of Repository. */
export interface ActionsData {
  readonly workflowRuns: Map<number, WorkflowRun>;
}

export interface WorkflowRun {
  readonly id: number;
}

export function createActionsData(): ActionsData {
  return { workflowRuns: new Map() };
}
