import type { RunConclusion, Runner, WorkflowRun } from './actions-data.ts';
import { renderJob, renderRun, renderWorkflowFile } from './render-actions.ts';
import type { Repository, World } from './world.ts';

/** Tells the apps how far a run is; its one job moves with it, under other words while it waits. */
export function announceRun(
  world: World,
  repository: Repository,
  run: WorkflowRun,
  action: 'requested' | 'in_progress' | 'completed',
): void {
  const sendRun = () =>
    world.emit(
      repository,
      'workflow_run',
      {
        action,
        workflow_run: renderRun(world, repository, run),
        workflow: renderWorkflowFile(world, repository, run.workflow, run.workflowName),
      },
      run.actor,
    );
  const sendJob = () =>
    world.emit(
      repository,
      'workflow_job',
      {
        action: action === 'requested' ? 'queued' : action,
        workflow_job: renderJob(world, repository, run),
      },
      run.actor,
    );
  // A run is over after its last job.
  for (const send of action === 'completed' ? [sendJob, sendRun] : [sendRun, sendJob]) send();
}

/** The oldest queued job whose labels the runner has, given to it; undefined where there is none. */
export function claimJob(
  world: World,
  runner: Runner,
): { readonly repository: Repository; readonly run: WorkflowRun } | undefined {
  const own = new Set(runner.labels.map((label) => label.toLowerCase()));
  const queued = [...world.repositories.values()]
    .flatMap((repository) => [...repository.workflowRuns.values()].map((run) => ({ repository, run })))
    .filter(({ run: { job } }) => job.status === 'queued')
    .filter(({ run: { job } }) => job.labels.every((label) => own.has(label.toLowerCase())))
    .sort((left, right) => left.run.id - right.run.id);
  const [first] = queued;
  if (first === undefined) return undefined;
  const { job } = first.run;
  job.status = 'in_progress';
  job.runner = runner;
  job.startedAt = world.now();
  first.run.updatedAt = world.now();
  announceRun(world, first.repository, first.run, 'in_progress');
  return first;
}

export function completeJob(
  world: World,
  repository: Repository,
  run: WorkflowRun,
  conclusion: RunConclusion,
): void {
  const { job } = run;
  job.status = 'completed';
  job.conclusion = conclusion;
  job.completedAt = world.now();
  run.updatedAt = world.now();
  announceRun(world, repository, run, 'completed');
}

/** A queued run ends at once; a running one when its runner has heard of it and stopped. */
export function cancelRun(world: World, repository: Repository, run: WorkflowRun): void {
  if (run.job.status === 'queued') completeJob(world, repository, run, 'cancelled');
  else run.job.isCancelRequested = true;
}
