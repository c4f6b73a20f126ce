import { createHash } from 'node:crypto';
import type { Artifact, Workflow, WorkflowJob, WorkflowRun } from './actions-data.ts';
import type { Commit } from './read-commits.ts';
import {
  renderMinimalRepository,
  renderUser,
  repositoryApiUrl,
  repositoryHtmlUrl,
  timestamp,
} from './render.ts';
import type { Repository, World } from './world.ts';

export function renderWorkflowFile(
  world: World,
  repository: Repository,
  workflow: Workflow,
  name: string,
): Record<string, unknown> {
  const html = repositoryHtmlUrl(world, repository);
  const file = workflow.path.slice(workflow.path.lastIndexOf('/') + 1);
  return {
    id: workflow.id,
    node_id: workflow.nodeId,
    name,
    path: workflow.path,
    state: workflow.state,
    created_at: timestamp(workflow.createdAt),
    updated_at: timestamp(workflow.createdAt),
    url: `${repositoryApiUrl(world, repository)}/actions/workflows/${workflow.id}`,
    html_url: `${html}/blob/${repository.defaultBranch}/${workflow.path}`,
    badge_url: `${html}/actions/workflows/${file}/badge.svg`,
  };
}

export function renderRun(world: World, repository: Repository, run: WorkflowRun): Record<string, unknown> {
  const api = repositoryApiUrl(world, repository);
  const url = `${api}/actions/runs/${run.id}`;
  const { job } = run;
  return {
    id: run.id,
    name: run.workflowName,
    node_id: run.nodeId,
    check_suite_id: run.checkSuiteId,
    check_suite_node_id: `CS_${run.checkSuiteId}`,
    head_branch: run.headBranch,
    head_sha: run.headCommit.sha,
    path: run.workflow.path,
    display_title: run.displayTitle,
    run_number: run.number,
    run_attempt: 1,
    event: 'workflow_dispatch',
    status: job.status,
    conclusion: job.conclusion,
    workflow_id: run.workflow.id,
    url,
    html_url: `${repositoryHtmlUrl(world, repository)}/actions/runs/${run.id}`,
    pull_requests: [],
    created_at: timestamp(run.createdAt),
    updated_at: timestamp(run.updatedAt),
    actor: renderUser(world, run.actor),
    triggering_actor: renderUser(world, run.actor),
    run_started_at: timestamp(run.createdAt),
    jobs_url: `${url}/jobs`,
    logs_url: `${url}/logs`,
    check_suite_url: `${api}/check-suites/${run.checkSuiteId}`,
    artifacts_url: `${url}/artifacts`,
    cancel_url: `${url}/cancel`,
    rerun_url: `${url}/rerun`,
    previous_attempt_url: null,
    workflow_url: `${api}/actions/workflows/${run.workflow.id}`,
    referenced_workflows: [],
    head_commit: renderHeadCommit(run.headCommit),
    repository: renderMinimalRepository(world, repository),
    head_repository: renderMinimalRepository(world, repository),
  };
}

function renderHeadCommit({ sha, treeSha, message, author, committer }: Commit): Record<string, unknown> {
  return {
    id: sha,
    tree_id: treeSha,
    message,
    timestamp: timestamp(committer.date),
    author: { name: author.name, email: author.email },
    committer: { name: committer.name, email: committer.email },
  };
}

export function renderJob(world: World, repository: Repository, run: WorkflowRun): Record<string, unknown> {
  const api = repositoryApiUrl(world, repository);
  const { job } = run;
  const time = (date: Date | null) => (date === null ? null : timestamp(date));
  return {
    id: job.id,
    run_id: run.id,
    workflow_name: run.workflowName,
    head_branch: run.headBranch,
    run_url: `${api}/actions/runs/${run.id}`,
    run_attempt: 1,
    node_id: job.nodeId,
    head_sha: run.headCommit.sha,
    url: `${api}/actions/jobs/${job.id}`,
    html_url: `${repositoryHtmlUrl(world, repository)}/actions/runs/${run.id}/job/${job.id}`,
    status: job.status,
    conclusion: job.conclusion,
    created_at: timestamp(run.createdAt),
    started_at: timestamp(job.startedAt ?? run.createdAt),
    completed_at: time(job.completedAt),
    name: job.name,
    steps: renderSteps(job),
    check_run_url: `${api}/check-runs/${job.id}`,
    labels: job.labels,
    runner_id: job.runner?.id ?? null,
    runner_name: job.runner?.name ?? null,
    runner_group_id: job.runner === null ? null : 1,
    runner_group_name: job.runner === null ? null : 'Default',
  };
}

/** One step: the runner runs one command and no steps of a file. */
function renderSteps(job: WorkflowJob): readonly Record<string, unknown>[] {
  if (job.startedAt === null) return [];
  return [
    {
      name: 'metainfer judge',
      status: job.status,
      conclusion: job.conclusion,
      number: 1,
      started_at: timestamp(job.startedAt),
      completed_at: job.completedAt === null ? null : timestamp(job.completedAt),
    },
  ];
}

export function renderArtifact(
  world: World,
  repository: Repository,
  artifact: Artifact,
): Record<string, unknown> {
  const url = `${repositoryApiUrl(world, repository)}/actions/artifacts/${artifact.id}`;
  return {
    id: artifact.id,
    node_id: artifact.nodeId,
    name: artifact.name,
    size_in_bytes: artifact.zip.length,
    url,
    archive_download_url: `${url}/zip`,
    expired: artifact.expiresAt <= world.now(),
    digest: `sha256:${createHash('sha256').update(artifact.zip).digest('hex')}`,
    created_at: timestamp(artifact.createdAt),
    updated_at: timestamp(artifact.createdAt),
    expires_at: timestamp(artifact.expiresAt),
    workflow_run: {
      id: artifact.run.id,
      repository_id: repository.id,
      head_repository_id: repository.id,
      head_branch: artifact.run.headBranch,
      head_sha: artifact.run.headCommit.sha,
    },
  };
}
