import type { CheckRun } from './conversation-data.ts';
import { renderCheckRunForEvent } from './render-check.ts';
import type { Repository, User, World } from './world.ts';

/**
 * A person presses a button that the app put on its check run; only that app hears of it. GitHub has no REST route for
 * this, so tests and pages call it.
 * @throws Error where the check run has no such button
 */
export function pressCheckButton(
  world: World,
  repository: Repository,
  checkRunId: number,
  identifier: string,
  sender: User,
): void {
  const run = requireRun(repository, checkRunId);
  const action = run.actions.find((candidate) => candidate.identifier === identifier);
  if (action === undefined) {
    const known = run.actions.map((candidate) => candidate.identifier).join(', ') || 'none';
    throw new Error(`Check run ${checkRunId} has no button "${identifier}"; its buttons: ${known}.`);
  }
  const payload = {
    action: 'requested_action',
    check_run: renderCheckRunForEvent(world, repository, run),
    requested_action: { identifier },
  };
  world.emit(repository, 'check_run', payload, sender, { onlyApp: run.app.id });
}

/** A person presses "Re-run" of a check run; only its app hears of it. @throws Error where there is no such check run */
export function rerunCheck(world: World, repository: Repository, checkRunId: number, sender: User): void {
  const run = requireRun(repository, checkRunId);
  const payload = { action: 'rerequested', check_run: renderCheckRunForEvent(world, repository, run) };
  world.emit(repository, 'check_run', payload, sender, { onlyApp: run.app.id });
}

function requireRun(repository: Repository, id: number): CheckRun {
  const run = repository.checkRuns.get(id);
  if (run === undefined) throw new Error(`${repository.name} has no check run ${id}.`);
  return run;
}
