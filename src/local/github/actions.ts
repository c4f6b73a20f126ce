import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Artifact, WorkflowRun } from './actions-data.ts';
import { dispatchWorkflow } from './dispatch-workflow.ts';
import { renderPage } from './pagination.ts';
import { type CurrentWorkflow, findWorkflow, readWorkflows } from './read-workflows.ts';
import { repositoryApiUrl, repositoryHtmlUrl } from './render.ts';
import { renderArtifact, renderJob, renderRun, renderWorkflowFile } from './render-actions.ts';
import { parseBody } from './request-body.ts';
import { GitHubError, numberParam, type Reply, type RequestContext, type Route, senderOf } from './router.ts';
import { offerDownload } from './runner-state.ts';
import { cancelRun } from './workflow-runs.ts';

const read = ['actions', 'read'] as const;
const write = ['actions', 'write'] as const;
const base = '/repos/{owner}/{repo}/actions';

async function workflowOf(context: RequestContext): Promise<CurrentWorkflow> {
  const found = await findWorkflow(context.world, context.repository, context.params.workflow_id ?? '');
  if (found === undefined) throw new GitHubError(404, 'Not Found');
  return found;
}

function runOf(context: RequestContext): WorkflowRun {
  const run = context.repository.workflowRuns.get(numberParam(context, 'run_id'));
  if (run === undefined) throw new GitHubError(404, 'Not Found');
  return run;
}

function artifactOf(context: RequestContext): Artifact {
  const artifact = context.repository.artifacts.get(numberParam(context, 'artifact_id'));
  if (artifact === undefined) throw new GitHubError(404, 'Not Found');
  return artifact;
}

const DispatchBody = z.object({
  ref: z.string(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  return_run_details: z.boolean().optional(),
});

async function dispatch(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const current = await workflowOf(context);
  const body = parseBody(context, DispatchBody);
  const run = await dispatchWorkflow(world, repository, current, {
    ref: body.ref,
    inputs: body.inputs ?? {},
    actor: senderOf(context),
  });
  if (body.return_run_details !== true) return { status: 204 };
  return {
    status: 200,
    body: {
      workflow_run_id: run.id,
      run_url: `${repositoryApiUrl(world, repository)}/actions/runs/${run.id}`,
      html_url: `${repositoryHtmlUrl(world, repository)}/actions/runs/${run.id}`,
    },
  };
}

/** Newest first, by the filters of the query that the stand-in knows. @throws GitHubError 422 for another filter */
function listRuns(context: RequestContext, runs: readonly WorkflowRun[]): Promise<Reply> {
  const filters: Readonly<Record<string, (run: WorkflowRun, value: string) => boolean>> = {
    event: (_, value) => value === 'workflow_dispatch',
    status: ({ job }, value) => job.status === value || job.conclusion === value,
    branch: (run, value) => run.headBranch === value,
    head_sha: (run, value) => run.headCommit.sha === value,
    actor: (run, value) => run.actor.login === value,
  };
  const plain = new Set(['page', 'per_page', 'exclude_pull_requests']);
  let kept = [...runs].sort((left, right) => right.id - left.id);
  for (const [name, value] of context.query) {
    if (plain.has(name)) continue;
    const filter = filters[name];
    if (filter === undefined) {
      throw new GitHubError(422, `The filter ${name} is not part of the local stand-in`);
    }
    kept = kept.filter((run) => filter(run, value));
  }
  const render = (run: WorkflowRun) => renderRun(context.world, context.repository, run);
  return renderPage(context, kept, render, (items, total) => ({ total_count: total, workflow_runs: items }));
}

async function setState(context: RequestContext, state: 'active' | 'disabled_manually'): Promise<Reply> {
  (await workflowOf(context)).workflow.state = state;
  return { status: 204 };
}

async function download(context: RequestContext): Promise<Reply> {
  const artifact = artifactOf(context);
  if (context.params.archive_format !== 'zip') throw new GitHubError(404, 'Not Found');
  if (artifact.expiresAt <= context.world.now()) throw new GitHubError(410, 'Artifact has expired');
  const key = randomBytes(24).toString('hex');
  offerDownload(context.world, key, artifact.zip);
  return { status: 302, headers: { location: `${context.world.url}/_artifacts/${key}` } };
}

const workflowRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${base}/workflows`,
    needs: read,
    handle: async (context) =>
      renderPage(
        context,
        await readWorkflows(context.world, context.repository),
        ({ workflow, name }) => renderWorkflowFile(context.world, context.repository, workflow, name),
        (items, total) => ({ total_count: total, workflows: items }),
      ),
  },
  {
    method: 'GET',
    path: `${base}/workflows/{workflow_id}`,
    needs: read,
    handle: async (context) => {
      const { workflow, name } = await workflowOf(context);
      return { status: 200, body: renderWorkflowFile(context.world, context.repository, workflow, name) };
    },
  },
  { method: 'POST', path: `${base}/workflows/{workflow_id}/dispatches`, needs: write, handle: dispatch },
  {
    method: 'PUT',
    path: `${base}/workflows/{workflow_id}/disable`,
    needs: write,
    handle: (context) => setState(context, 'disabled_manually'),
  },
  {
    method: 'PUT',
    path: `${base}/workflows/{workflow_id}/enable`,
    needs: write,
    handle: (context) => setState(context, 'active'),
  },
  {
    method: 'GET',
    path: `${base}/workflows/{workflow_id}/runs`,
    needs: read,
    handle: async (context) => {
      const { workflow } = await workflowOf(context);
      const runs = [...context.repository.workflowRuns.values()];
      return listRuns(
        context,
        runs.filter((run) => run.workflow === workflow),
      );
    },
  },
];

const runRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${base}/runs`,
    needs: read,
    handle: (context) => listRuns(context, [...context.repository.workflowRuns.values()]),
  },
  {
    method: 'GET',
    path: `${base}/runs/{run_id}`,
    needs: read,
    handle: async (context) => ({
      status: 200,
      body: renderRun(context.world, context.repository, runOf(context)),
    }),
  },
  {
    method: 'GET',
    path: `${base}/runs/{run_id}/jobs`,
    needs: read,
    handle: (context) =>
      renderPage(
        context,
        [runOf(context)],
        (run) => renderJob(context.world, context.repository, run),
        (items, total) => ({ total_count: total, jobs: items }),
      ),
  },
  {
    method: 'POST',
    path: `${base}/runs/{run_id}/cancel`,
    needs: write,
    handle: async (context) => {
      const run = runOf(context);
      if (run.job.status === 'completed') {
        throw new GitHubError(409, 'Cannot cancel a workflow run that is completed.');
      }
      cancelRun(context.world, context.repository, run);
      return { status: 202, body: {} };
    },
  },
  {
    method: 'GET',
    path: `${base}/runs/{run_id}/artifacts`,
    needs: read,
    handle: (context) => {
      const run = runOf(context);
      const name = context.query.get('name');
      const all = [...context.repository.artifacts.values()].filter((artifact) => artifact.run === run);
      return renderPage(
        context,
        all.filter((artifact) => name === null || artifact.name === name),
        (artifact) => renderArtifact(context.world, context.repository, artifact),
        (items, total) => ({ total_count: total, artifacts: items }),
      );
    },
  },
  {
    method: 'GET',
    path: `${base}/artifacts/{artifact_id}`,
    needs: read,
    handle: async (context) => ({
      status: 200,
      body: renderArtifact(context.world, context.repository, artifactOf(context)),
    }),
  },
  { method: 'GET', path: `${base}/artifacts/{artifact_id}/{archive_format}`, needs: read, handle: download },
];

/** Workflows, dispatch, runs, jobs and artifacts. Logs, secrets, caches and the runner's API are no part of it. */
export const actionsRoutes: readonly Route[] = [...workflowRoutes, ...runRoutes];
