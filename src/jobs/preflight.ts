import { renderWorkflow } from '../adapters/runner/workflow-text.ts';
import type { SetupPlace, SetupProblem } from '../delivery/setup-texts.ts';
import type { RepositoryRef } from '../model/github.ts';
import type { Problem } from '../model/problem.ts';
import { parseRepositoryConfig } from '../webhooks/repository-config.ts';
import { type AppContext, clientOf, repositoryConfigPath, workflowPath } from './app-context.ts';

const neededPermissions = {
  actions: 'write',
  checks: 'write',
  contents: 'write',
  issues: 'write',
  pull_requests: 'write',
} as const;

/** What must be set up before a runner can be asked, each with how to set it right. Empty where all is well. */
export async function findSetupProblems(
  context: AppContext,
  repository: RepositoryRef,
): Promise<readonly SetupProblem[]> {
  const client = clientOf(context, repository);
  const granted = await client.grantedPermissions();
  const missing = Object.entries(neededPermissions)
    .filter(([permission, needed]) => granted[permission] !== needed)
    .map(([permission, needed]) => ({
      ...{ kind: 'permission-missing' as const, permission, needed },
      granted: granted[permission] ?? null,
    }));
  if (missing.length > 0) return missing;
  const configText = await client.readFile(repositoryConfigPath);
  const { config, problems } = parseRepositoryConfig(configText, repositoryConfigPath);
  if (config === undefined) return [{ kind: 'config-invalid', path: repositoryConfigPath, problems }];
  const home = config.knowledge.repository ?? context.home.repository;
  if (home.toLowerCase() !== context.home.repository.toLowerCase())
    return [{ kind: 'config-invalid', path: repositoryConfigPath, problems: [foreignHome(context, home)] }];
  const text = renderWorkflow({ homeRepository: context.home.repository, homeSha: context.home.sha });
  const workflow = await client.readWorkflow(workflowPath);
  if (workflow === undefined) return [{ kind: 'workflow-missing', path: workflowPath, text }];
  if (!isSameText(workflow.text, text)) return [{ kind: 'workflow-differs', path: workflowPath, text }];
  if (workflow.state === 'active') return [];
  return [{ kind: 'workflow-disabled', path: workflowPath, state: workflow.state }];
}

/** Engines are composed from the knowledge that this app runs with; a runner with another's would refuse them. */
function foreignHome({ home }: AppContext, named: string): Problem {
  return {
    severity: 'error',
    code: 'unknown-value',
    path: 'knowledge.repository',
    message: `names ${named}, and this app generates from ${home.repository}.`,
    suggestion: `Leave it out, or have the engines made by an app that runs from ${named}.`,
  };
}

export function setupPlace(context: AppContext, repository: RepositoryRef): SetupPlace {
  const { owner, name, defaultBranch } = repository;
  return { githubUrl: context.githubUrl, repository: `${owner}/${name}`, defaultBranch };
}

/** One sentence for where the run ends; the comment beside it has the rest. */
export function summariseSetup(problems: readonly SetupProblem[]): string {
  const names = problems.map((problem) =>
    problem.kind === 'permission-missing'
      ? `the app lacks the permission ${problem.permission}: ${problem.needed}`
      : problem.kind.replaceAll('-', ' '),
  );
  return `This repository is not ready to verify engines: ${names.join('; ')}. A comment on the pull request says how to set it up.`;
}

function isSameText(found: string, expected: string): boolean {
  const normal = (text: string) => text.replaceAll('\r\n', '\n').trim();
  return normal(found) === normal(expected);
}
