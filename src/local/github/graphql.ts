import { z } from 'zod';
import { canSee, hasRole, isGranted } from './authorize-request.ts';
import type { Pull } from './conversation-data.ts';
import { type GraphqlField, GraphqlSyntaxError, parseGraphql } from './graphql-document.ts';
import { emitIssueEvent, patchIssue } from './issue-changes.ts';
import { pullHtmlUrl } from './render-pull.ts';
import { isTooLong, maxBodyLength } from './request-body.ts';
import { type Actor, bodyOf, GitHubError, type Reply, type RequestContext, type Route } from './router.ts';
import type { Repository, User } from './world.ts';

/** One entry of the `errors` of an answer; the rest of the document is carried out all the same. */
class MutationError extends Error {
  readonly type: 'NOT_FOUND' | 'FORBIDDEN' | 'UNPROCESSABLE';

  constructor(type: MutationError['type'], message: string) {
    super(message);
    this.type = type;
  }
}

interface Target {
  readonly context: RequestContext;
  readonly repository: Repository;
  readonly pull: Pull;
  readonly sender: User;
}

interface Mutation {
  readonly input: z.ZodType<{ readonly pullRequestId: string }>;
  run(target: Target, input: Readonly<Record<string, unknown>>): Promise<void>;
}

const base = { pullRequestId: z.string(), clientMutationId: z.string().nullish() };

/** All of GraphQL that the stand-in knows. */
const mutations: Readonly<Record<string, Mutation>> = {
  updatePullRequest: {
    input: z.strictObject({ ...base, body: z.string().nullish(), title: z.string().nullish() }),
    async run({ context, repository, pull, sender }, input) {
      const body = typeof input.body === 'string' ? input.body : undefined;
      const title = typeof input.title === 'string' ? input.title : undefined;
      if (body !== undefined && isTooLong(body)) {
        throw new MutationError('UNPROCESSABLE', `Body is too long (maximum is ${maxBodyLength} characters)`);
      }
      await patchIssue(context.world, repository, pull.issue, { body, title }, sender);
    },
  },
  markPullRequestReadyForReview: {
    input: z.strictObject(base),
    async run({ context, repository, pull, sender }) {
      if (!pull.isDraft) return;
      pull.isDraft = false;
      pull.issue.updatedAt = context.world.now();
      await emitIssueEvent(context.world, repository, pull.issue, 'ready_for_review', sender);
    },
  },
};

const pullFields: Readonly<Record<string, (target: Target) => unknown>> = {
  id: ({ pull }) => pull.nodeId,
  number: ({ pull }) => pull.number,
  title: ({ pull }) => pull.issue.title,
  body: ({ pull }) => pull.issue.body ?? '',
  isDraft: ({ pull }) => pull.isDraft,
  headRefOid: ({ pull }) => pull.headSha,
  url: ({ context, repository, pull }) => pullHtmlUrl(context.world, repository, pull),
  state: ({ pull }) => (pull.mergedAt === null ? pull.issue.state.toUpperCase() : 'MERGED'),
};

/** @throws GraphqlSyntaxError before anything is carried out, for what the stand-in doesn't know */
function checkField(field: GraphqlField): void {
  const notPart = (what: string) => new GraphqlSyntaxError(`${what} is not part of the local stand-in`);
  const mutation = mutations[field.name];
  if (mutation === undefined) throw notPart(`Mutation ${field.name}`);
  const parsed = mutation.input.safeParse(field.arguments.input);
  if (!parsed.success) {
    const places = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`);
    throw new GraphqlSyntaxError(`Argument 'input' of ${field.name} is not valid: ${places.join('; ')}`);
  }
  for (const selected of field.selection) {
    if (selected.name === 'clientMutationId') continue;
    if (selected.name !== 'pullRequest') throw notPart(`Field ${field.name}.${selected.name}`);
    const unknown = selected.selection.find((inner) => pullFields[inner.name] === undefined);
    if (unknown !== undefined) throw notPart(`Field PullRequest.${unknown.name}`);
  }
}

/** @throws MutationError as GitHub answers where the pull request is not there or the actor may not change it */
function findTarget(context: RequestContext, field: GraphqlField): Target {
  const { actor, world } = context;
  const { pullRequestId } = field.arguments.input as { pullRequestId: string };
  for (const repository of world.repositories.values()) {
    const pull = [...repository.pulls.values()].find((candidate) => candidate.nodeId === pullRequestId);
    if (pull === undefined || !canSee(repository, actor)) continue;
    const sender = requireWriter(actor, repository, pull, field.name);
    return { context, repository, pull, sender };
  }
  const message = `Could not resolve to a node with the global id of '${pullRequestId}'.`;
  throw new MutationError('NOT_FOUND', message);
}

function requireWriter(actor: Actor, repository: Repository, pull: Pull, mutation: string): User {
  if (actor.kind === 'installation') {
    const isGrantedHere = actor.repositoryIds.has(repository.id);
    if (isGrantedHere && isGranted(actor.permissions, ['pull_requests', 'write'])) return actor.user;
    throw new MutationError('FORBIDDEN', 'Resource not accessible by integration');
  }
  if (actor.kind !== 'user') throw new GitHubError(401, 'Requires authentication');
  if (actor.user.id === pull.issue.user.id || hasRole(repository, actor.user, 'write')) return actor.user;
  const name = mutation.charAt(0).toUpperCase() + mutation.slice(1);
  const message = `${actor.user.login} does not have the correct permissions to execute \`${name}\``;
  throw new MutationError('FORBIDDEN', message);
}

function renderPayload(target: Target, field: GraphqlField): Record<string, unknown> {
  const input = field.arguments.input as { clientMutationId?: string | null };
  const entries = field.selection.map((selected): [string, unknown] => {
    if (selected.name === 'clientMutationId') return [selected.alias, input.clientMutationId ?? null];
    const values = selected.selection.map((inner) => [inner.alias, pullFields[inner.name]!(target)]);
    return [selected.alias, Object.fromEntries(values)];
  });
  return Object.fromEntries(entries);
}

function renderFailure(field: GraphqlField, error: MutationError): Record<string, unknown> {
  return {
    type: error.type,
    path: [field.alias],
    locations: [{ line: field.line, column: field.column }],
    message: error.message,
  };
}

/** Mutations run one after the other; one that fails gives null and an error, and the next runs. */
async function runMutations(context: RequestContext, fields: readonly GraphqlField[]): Promise<Reply> {
  const data: Record<string, unknown> = {};
  const errors: unknown[] = [];
  for (const field of fields) {
    try {
      const target = findTarget(context, field);
      await mutations[field.name]!.run(target, field.arguments.input as Record<string, unknown>);
      data[field.alias] = renderPayload(target, field);
    } catch (error) {
      if (!(error instanceof MutationError)) throw error;
      data[field.alias] = null;
      errors.push(renderFailure(field, error));
    }
  }
  return { status: 200, body: { data, ...(errors.length > 0 ? { errors } : {}) } };
}

async function handleGraphql(context: RequestContext): Promise<Reply> {
  const { query, variables = {} } = bodyOf(context);
  if (typeof query !== 'string') {
    throw new GitHubError(400, 'A query attribute must be specified and must be a string.');
  }
  try {
    const operation = parseGraphql(query, (variables ?? {}) as Record<string, unknown>);
    if (operation.kind !== 'mutation') {
      throw new GraphqlSyntaxError(`A GraphQL ${operation.kind} is not part of the local stand-in`);
    }
    operation.fields.forEach(checkField);
    return await runMutations(context, operation.fields);
  } catch (error) {
    if (!(error instanceof GraphqlSyntaxError)) throw error;
    return { status: 200, body: { errors: [{ message: error.message }] } };
  }
}

/** Draft → ready and a new body; everything else answers with an error that says so. */
export const graphqlRoutes: readonly Route[] = [{ method: 'POST', path: '/graphql', handle: handleGraphql }];
