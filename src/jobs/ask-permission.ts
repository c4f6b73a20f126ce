import { AppError } from '../model/errors.ts';
import type { Actor, Capability, RepositoryRef } from '../model/github.ts';
import { formatProblem } from '../model/problem.ts';
import type { RepositoryConfig } from '../model/repository-config.ts';
import { authorize } from '../webhooks/authorize.ts';
import { parseRepositoryConfig } from '../webhooks/repository-config.ts';
import { type AppContext, clientOf, repositoryConfigPath } from './app-context.ts';

/** @throws AppError REPOSITORY_CONFIG_INVALID with every problem: a broken file must not widen what anybody may do */
export async function readRepositoryConfig(
  context: AppContext,
  repository: RepositoryRef,
): Promise<RepositoryConfig> {
  const text = await clientOf(context, repository).readFile(repositoryConfigPath);
  const { config, problems } = parseRepositoryConfig(text, repositoryConfigPath);
  if (config !== undefined) return config;
  const lines = problems.map((problem) => `- ${formatProblem(problem)}`);
  throw new AppError(
    'REPOSITORY_CONFIG_INVALID',
    `${repositoryConfigPath} on ${repository.defaultBranch} cannot be used:\n${lines.join('\n')}`,
  );
}

export type Answer = { readonly allowed: true } | { readonly allowed: false; readonly message: string };

/** The one question of every entrance: may this person cause this cost here, now? */
export async function askPermission(
  context: AppContext,
  request: {
    readonly repository: RepositoryRef;
    readonly actor: Actor;
    readonly capability: Capability;
    /** Somebody allowed has let this very constraint hash through. */
    readonly isApproved: boolean;
  },
): Promise<Answer> {
  const { repository, actor, capability, isApproved } = request;
  const config = await readRepositoryConfig(context, repository);
  const permission = await clientOf(context, repository).permissionOf(actor);
  const answer = authorize({
    actor,
    capability,
    permission,
    config,
    isPrivate: repository.isPrivate,
    isApproved,
  });
  return answer;
}
