import { AppError } from '../../model/errors.ts';
import { githubMessageOf, statusOf } from './github-errors.ts';
import { makeOnce, withoutRetries } from './make-once.ts';
import type { Once } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';
import { fileNameOf, findWorkflowRun } from './workflows.ts';

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
