import type { Workflow } from './actions-data.ts';
import { nodeId } from './create-world.ts';
import { parseWorkflow } from './workflow-definition.ts';
import type { Repository, World } from './world.ts';

const workflowFolder = '.github/workflows';

/** A workflow as it stands on the default branch now. */
export interface CurrentWorkflow {
  readonly workflow: Workflow;
  /** The file's name, else its path. */
  readonly name: string;
}

/** The workflow files of the default branch, in path order. A file that left the branch is no workflow any more. */
export async function readWorkflows(
  world: World,
  repository: Repository,
): Promise<readonly CurrentWorkflow[]> {
  const workflows = await listWorkflows(world, repository);
  return Promise.all(workflows.map((workflow) => withName(world, repository, workflow)));
}

/** By number or by file name, as GitHub's routes take it. */
export async function findWorkflow(
  world: World,
  repository: Repository,
  idOrFile: string,
): Promise<CurrentWorkflow | undefined> {
  const workflow = (await listWorkflows(world, repository)).find(
    ({ id, path }) => String(id) === idOrFile || path.slice(workflowFolder.length + 1) === idOrFile,
  );
  return workflow && withName(world, repository, workflow);
}

async function listWorkflows(world: World, repository: Repository): Promise<readonly Workflow[]> {
  const args = ['ls-tree', '-z', '--name-only', repository.defaultBranch, `${workflowFolder}/`];
  const listing = await world.git(repository, args).catch(() => '');
  const paths = listing.split('\0').filter((path) => /\.ya?ml$/.test(path));
  return paths.map((path) => rememberWorkflow(world, repository, path));
}

async function withName(world: World, repository: Repository, workflow: Workflow): Promise<CurrentWorkflow> {
  const text = await readWorkflowText(world, repository, repository.defaultBranch, workflow.path);
  return { workflow, name: nameOf(text) ?? workflow.path };
}

/** Text of a workflow file at a commit; undefined where it is not there. */
export function readWorkflowText(
  world: World,
  repository: Repository,
  commit: string,
  path: string,
): Promise<string | undefined> {
  return world.git(repository, ['show', `${commit}:${path}`]).catch(() => undefined);
}

function rememberWorkflow(world: World, repository: Repository, path: string): Workflow {
  const known = repository.workflows.get(path);
  if (known !== undefined) return known;
  const id = world.nextId();
  const workflow: Workflow = { id, nodeId: nodeId('W', id), path, createdAt: world.now(), state: 'active' };
  repository.workflows.set(path, workflow);
  return workflow;
}

function nameOf(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : parseWorkflow(text).name;
  } catch {
    return undefined;
  }
}
