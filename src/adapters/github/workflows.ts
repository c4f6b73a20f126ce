import { statusOf } from './github-errors.ts';
import { readFile } from './reads.ts';
import type { WorkflowJob, WorkflowRun } from './repository-client.ts';
import { orUndefined, type RepositorySession } from './repository-session.ts';

/** Actions' routes take the file's name for the workflow's id. */
export function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

interface GitHubRun {
  readonly id: number;
  readonly html_url: string;
  readonly path: string;
  readonly event: string;
  readonly display_title: string;
  readonly status: string | null;
  readonly conclusion: string | null;
  readonly head_branch: string | null;
}

function toRun(run: GitHubRun): WorkflowRun {
  return {
    id: run.id,
    url: run.html_url,
    // Some answers carry the ref behind an @.
    path: run.path.replace(/@.*$/, ''),
    event: run.event,
    displayTitle: run.display_title,
    status: run.status ?? 'queued',
    conclusion: run.conclusion,
    headBranch: run.head_branch,
  };
}

export async function readWorkflow(
  session: RepositorySession,
  path: string,
): Promise<{ readonly state: string; readonly text: string } | undefined> {
  const answer = await orUndefined(
    session.call((octokit) =>
      octokit.rest.actions.getWorkflow({ ...session.place, workflow_id: fileNameOf(path) }),
    ),
  );
  if (answer === undefined) return undefined;
  const text = await readFile(session, path);
  return text === undefined ? undefined : { state: answer.data.state, text };
}

/** The newest hundred dispatched runs hold it, or it is not there: a request id is looked for within minutes. */
export async function findWorkflowRun(
  session: RepositorySession,
  path: string,
  requestId: string,
): Promise<WorkflowRun | undefined> {
  const answer = await orUndefined(
    session.call((octokit) =>
      octokit.rest.actions.listWorkflowRuns({
        ...session.place,
        workflow_id: fileNameOf(path),
        event: 'workflow_dispatch',
        per_page: 100,
      }),
    ),
  );
  const found = answer?.data.workflow_runs.find((run) => run.display_title === `metainfer ${requestId}`);
  return found && toRun(found);
}

export async function readWorkflowRun(session: RepositorySession, id: number): Promise<WorkflowRun> {
  const { data } = await session.call((octokit) =>
    octokit.rest.actions.getWorkflowRun({ ...session.place, run_id: id }),
  );
  return toRun(data);
}

/** Jobs of the latest attempt. Our workflow has one; more than 100 are not read. */
export async function listWorkflowJobs(
  session: RepositorySession,
  id: number,
): Promise<readonly WorkflowJob[]> {
  const { data } = await session.call((octokit) =>
    octokit.rest.actions.listJobsForWorkflowRun({
      ...session.place,
      run_id: id,
      filter: 'latest',
      per_page: 100,
    }),
  );
  return data.jobs.map((job) => ({
    id: job.id,
    status: job.status,
    conclusion: job.conclusion,
    labels: job.labels,
    runnerName: job.runner_name || null,
    createdAt: new Date(job.created_at),
    startedAt: job.started_at ? new Date(job.started_at) : null,
  }));
}

/** A run that ended already is no fault (409). */
export async function cancelWorkflowRun(session: RepositorySession, id: number): Promise<void> {
  try {
    await session.call((octokit) => octokit.rest.actions.cancelWorkflowRun({ ...session.place, run_id: id }));
  } catch (error) {
    if (statusOf(error) !== 409 && statusOf(error) !== 404) throw error;
  }
}
