import { isGranted } from './authorize-request.ts';
import { GitFailure } from './git.ts';
import { GitHubError, type RequestContext } from './router.ts';

const workflowFolder = '.github/workflows';

/**
 * GitHub keeps apps without the workflows permission from writing workflow files, whichever way.
 * @throws GitHubError 403 where one of the paths is a workflow file and the actor is such an app
 */
export function refuseWorkflowPaths(context: RequestContext, paths: readonly string[]): void {
  if (mayWriteWorkflows(context)) return;
  if (paths.some((path) => path === workflowFolder || path.startsWith(`${workflowFolder}/`))) refuse();
}

/** The same for a ref that is about to move: its workflow files must be those of where it comes from. */
export async function refuseWorkflowChange(
  context: RequestContext,
  before: string | undefined,
  after: string,
): Promise<void> {
  if (mayWriteWorkflows(context)) return;
  const { world, repository } = context;
  const base =
    before ??
    (await world.git(repository, ['merge-base', repository.defaultBranch, after]).catch(() => '')).trim();
  if (base === '') return;
  const args = ['diff', '--quiet', base, after, '--', workflowFolder];
  await world.git(repository, args).catch((error: unknown) => {
    // 1: they differ. Anything else is told by who moves the ref.
    if (error instanceof GitFailure && error.status === 1) refuse();
  });
}

function mayWriteWorkflows({ actor }: RequestContext): boolean {
  return actor.kind !== 'installation' || isGranted(actor.permissions, ['workflows', 'write']);
}

function refuse(): never {
  throw new GitHubError(403, 'Resource not accessible by integration', undefined, {
    'x-accepted-github-permissions': 'contents=write,workflows=write',
  });
}
