import { AppError } from '../../model/errors.ts';
import { githubMessageOf, statusOf } from './github-errors.ts';
import { makeOnce, withoutRetries } from './make-once.ts';
import { readFile } from './reads.ts';
import type { Once, WorkflowJob, WorkflowRun } from './repository-client.ts';
import { orUndefined, type RepositorySession } from './repository-session.ts';

/** Actions' routes take the file's name for the workflow's id. */
function fileNameOf(path: string): string {
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

/** With `return_run_details` GitHub answers 200 with the run's id; older servers answer 204 without a body. */
async function sendDispatch(
  session: RepositorySession,
  path: string,
  inputs: Readonly<Record<string, string>>,
): Promise<{ readonly workflowRunId: number | null; readonly url: string | null }> {
  const { data } = await session.call((octokit) =>
    octokit.request('POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches', {
      ...session.place,
      workflow_id: fileNameOf(path),
      ref: session.repository.defaultBranch,
      inputs: { ...inputs },
      return_run_details: true,
      request: withoutRetries,
    }),
  );
  const details = (data ?? {}) as { workflow_run_id?: unknown; html_url?: unknown };
  return {
    workflowRunId: typeof details.workflow_run_id === 'number' ? details.workflow_run_id : null,
    url: typeof details.html_url === 'string' ? details.html_url : null,
  };
}

export async function dispatchWorkflow(
  session: RepositorySession,
  once: Once,
  path: string,
  inputs: Readonly<Record<string, string>>,
): Promise<{ readonly workflowRunId: number | null }> {
  const made = await makeOnce(session, once, {
    look: async () => {
      const run = await findWorkflowRun(session, path, inputs.request_id ?? '');
      return run && { githubId: String(run.id), url: run.url };
    },
    write: async () => {
      try {
        const sent = await sendDispatch(session, path, inputs);
        return {
          githubId: sent.workflowRunId === null ? 'unknown' : String(sent.workflowRunId),
          url: sent.url,
        };
      } catch (error) {
        throw asMissing(session, path, error);
      }
    },
  });
  const id = Number(made.githubId);
  return { workflowRunId: Number.isSafeInteger(id) ? id : null };
}

/** 404: no such file on the default branch. 422: no workflow_dispatch in it, an unknown input, or it is disabled. */
function asMissing(session: RepositorySession, path: string, error: unknown): unknown {
  const status = statusOf(error);
  if (status !== 404 && status !== 422) return error;
  const { owner, name, defaultBranch } = session.repository;
  const words = githubMessageOf(error).split(' - https://')[0]?.slice(0, 200);
  return new AppError(
    'WORKFLOW_MISSING',
    `GitHub could not start ${path} on ${defaultBranch} of ${owner}/${name}: "${words}". Put the file there with exactly the text the bot shows, and enable it under Actions; then comment "/metainfer retry".`,
    { cause: error },
  );
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
