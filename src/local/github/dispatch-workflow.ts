import type { WorkflowRun } from './actions-data.ts';
import { nodeId } from './create-world.ts';
import { type Commit, readCommits } from './read-commits.ts';
import { type CurrentWorkflow, readWorkflowText } from './read-workflows.ts';
import { GitHubError } from './router.ts';
import { fillInputs, labelsOf, parseWorkflow, type WorkflowDefinition } from './workflow-definition.ts';
import { announceRun } from './workflow-runs.ts';
import type { Repository, User, World } from './world.ts';

/**
 * Queues a run of a workflow of the default branch, as its file reads at `ref`.
 * @throws GitHubError 422 in GitHub's words for a wrong ref, a file without the trigger, or wrong inputs
 */
export async function dispatchWorkflow(
  world: World,
  repository: Repository,
  { workflow, name }: CurrentWorkflow,
  request: { readonly ref: string; readonly inputs: Readonly<Record<string, unknown>>; readonly actor: User },
): Promise<WorkflowRun> {
  if (workflow.state !== 'active') {
    throw new GitHubError(422, "Cannot trigger a 'workflow_dispatch' on a disabled workflow");
  }
  const { branch, commit } = await resolveRef(world, repository, request.ref);
  const definition = parseAt(await readWorkflowText(world, repository, commit.sha, workflow.path));
  const inputs = acceptInputs(definition, request.inputs);
  const [job, ...others] = definition.jobs;
  if (job === undefined || others.length > 0) {
    throw new GitHubError(
      422,
      `A workflow with ${definition.jobs.length} jobs is not part of the local stand-in`,
    );
  }
  const labels = labelsOf(job.runsOn, inputs);
  if (labels === undefined) {
    throw new GitHubError(422, `runs-on "${String(job.runsOn)}" is not part of the local stand-in`);
  }
  const now = world.now();
  const [id, jobId] = [world.nextId(), world.nextId()];
  const run: WorkflowRun = {
    id,
    nodeId: nodeId('WFR', id),
    checkSuiteId: world.nextId(),
    number: 1 + [...repository.workflowRuns.values()].filter((other) => other.workflow === workflow).length,
    workflow,
    workflowName: definition.name ?? name,
    displayTitle: fillInputs(definition.runName ?? definition.name ?? workflow.path, inputs),
    headBranch: branch,
    headCommit: commit,
    actor: request.actor,
    inputs,
    createdAt: now,
    updatedAt: now,
    job: {
      ...{ id: jobId, nodeId: nodeId('CR', jobId), name: job.name, labels },
      ...{ status: 'queued', conclusion: null, startedAt: null, completedAt: null, runner: null },
      ...{ isCancelRequested: false, log: '' },
    },
  };
  repository.workflowRuns.set(id, run);
  announceRun(world, repository, run, 'requested');
  return run;
}

async function resolveRef(
  world: World,
  repository: Repository,
  ref: string,
): Promise<{ readonly branch: string; readonly commit: Commit }> {
  const branch = ref.replace(/^refs\/(?:heads|tags)\//, '');
  const isName = /^[\w./-]+$/.test(branch) && !branch.startsWith('-') && !branch.includes('..');
  for (const full of isName ? [`refs/heads/${branch}`, `refs/tags/${branch}`] : []) {
    const [commit] = await readCommits(world, repository, ['-1', full, '--']).catch(() => []);
    if (commit !== undefined) return { branch, commit };
  }
  throw new GitHubError(422, `No ref found for: ${ref}`);
}

function parseAt(text: string | undefined): WorkflowDefinition {
  let definition: WorkflowDefinition | undefined;
  try {
    definition = text === undefined ? undefined : parseWorkflow(text);
  } catch (error) {
    throw new GitHubError(422, `failed to parse workflow: ${(error as Error).message.slice(0, 300)}`);
  }
  if (definition?.inputs === undefined) {
    throw new GitHubError(422, "Workflow does not have 'workflow_dispatch' trigger");
  }
  return definition;
}

function acceptInputs(
  definition: WorkflowDefinition,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const declared = definition.inputs ?? {};
  const unexpected = Object.keys(given).filter((name) => !Object.hasOwn(declared, name));
  if (unexpected.length > 0) {
    throw new GitHubError(422, `Unexpected inputs provided: ${JSON.stringify(unexpected)}`);
  }
  return Object.fromEntries(
    Object.entries(declared).map(([name, input]) => {
      const value = given[name];
      if (value === undefined || value === '') {
        if (input.required) throw new GitHubError(422, `Required input '${name}' not provided`);
        return [name, input.default];
      }
      return [name, String(value)];
    }),
  );
}
