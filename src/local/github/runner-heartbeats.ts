import { runnerState } from './runner-state.ts';
import { completeJob } from './workflow-runs.ts';
import type { World } from './world.ts';

const silenceMilliseconds = 30_000;
const lookMilliseconds = 5000;

const watches = new WeakMap<World, NodeJS.Timeout>();

/** The runner of this job is there. Its job is watched from its first heartbeat to its end. */
export function noteHeartbeat(world: World, jobId: number): void {
  runnerState(world).heard.set(jobId, world.now());
  if (!watches.has(world))
    watches.set(world, setInterval(() => failLostJobs(world), lookMilliseconds).unref());
}

/** Ends what a runner was doing that hasn't been heard of for half a minute; GitHub waits longer before it does. */
export function failLostJobs(world: World): void {
  const { heard } = runnerState(world);
  const oldest = world.now().getTime() - silenceMilliseconds;
  for (const repository of world.repositories.values()) {
    for (const run of repository.workflowRuns.values()) {
      const { job } = run;
      const last = heard.get(job.id) ?? job.startedAt;
      if (job.status !== 'in_progress' || last === null || last.getTime() >= oldest) continue;
      job.log += `The self-hosted runner ${job.runner?.name ?? ''} lost communication with the server.\n`;
      completeJob(world, repository, run, job.isCancelRequested ? 'cancelled' : 'failure');
    }
  }
  forgetEnded(world);
}

function forgetEnded(world: World): void {
  const { heard } = runnerState(world);
  const running = [...world.repositories.values()].flatMap((repository) =>
    [...repository.workflowRuns.values()].filter(({ job }) => job.status === 'in_progress'),
  );
  const ids = new Set(running.map(({ job }) => job.id));
  for (const id of heard.keys()) if (!ids.has(id)) heard.delete(id);
  if (ids.size > 0) return;
  clearInterval(watches.get(world));
  watches.delete(world);
}
