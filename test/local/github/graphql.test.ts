import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GraphqlSyntaxError, parseGraphql } from '../../../src/local/github/graphql-document.ts';
import { apiOf } from '../../support/github-api.ts';
import {
  base,
  type ConversationWorld,
  installationToken,
  openConversationWorld,
} from './conversation-world.ts';

const readyMutation = `mutation ($id: ID!, $body: String!) {
  updatePullRequest(input: {pullRequestId: $id, body: $body}) { clientMutationId }
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { clientMutationId pullRequest { isDraft } }
}`;

describe('GraphQL of the local GitHub', () => {
  let world: ConversationWorld;
  beforeAll(async () => {
    world = await openConversationWorld();
    await world.push('topic', { 'a.txt': '1\n' });
  });
  afterAll(() => world.stop());

  let opened: { readonly id: string; readonly path: string } | undefined;
  /** The one draft pull request of these tests. */
  async function draft() {
    if (opened === undefined) {
      const pull = { title: 'T', head: 'topic', base: 'main', draft: true, body: 'old' };
      const { body } = await world.bot('POST', `${base}/pulls`, pull);
      opened = { id: body.node_id, path: `${base}/pulls/${body.number}` };
    }
    return opened;
  }

  it('refuses everything but its two mutations, naming what it does not know', async () => {
    const { id } = await draft();
    const message = async (query: string) => {
      const { status, body } = await world.bot('POST', '/graphql', { query });
      expect(status).toBe(200);
      expect(body).not.toHaveProperty('data');
      return body.errors[0].message as string;
    };
    expect(await message('{ viewer { login } }')).toBe('A GraphQL query is not part of the local stand-in');
    expect(await message('mutation { addStar(input: {}) { clientMutationId } }')).toBe(
      'Mutation addStar is not part of the local stand-in',
    );
    const select = (fields: string) =>
      `mutation { markPullRequestReadyForReview(input: {pullRequestId: "${id}"}) { ${fields} } }`;
    expect(await message(select('actor { login }'))).toContain('Field markPullRequestReadyForReview.actor');
    expect(await message(select('pullRequest { author }'))).toContain('Field PullRequest.author');
    expect(
      await message('mutation { updatePullRequest(input: {body: "x"}) { clientMutationId } }'),
    ).toContain('pullRequestId');
    expect(await message('mutation {')).toBe('Unexpected end of document');
    expect((await world.bot('POST', '/graphql', { query: 3 })).status).toBe(400);
    const pull = await world.bot('GET', (await draft()).path);
    expect(pull.body).toMatchObject({ draft: true, body: 'old' });
  });

  it('lets only those write who may', async () => {
    const { id } = await draft();
    const variables = { id, body: 'taken over' };
    const stranger = await world.rita('POST', '/graphql', { query: readyMutation, variables });
    expect(stranger.body).toMatchObject({
      data: { updatePullRequest: null, markPullRequestReadyForReview: null },
      errors: [
        { type: 'FORBIDDEN', path: ['updatePullRequest'], locations: [{ line: 2, column: 3 }] },
        { type: 'FORBIDDEN', path: ['markPullRequestReadyForReview'] },
      ],
    });
    const [installation] = world.github.world.installations.values();
    const token = installationToken(world.github, installation!, { issues: 'write' });
    const app = await apiOf(world.github, token)('POST', '/graphql', { query: readyMutation, variables });
    expect(app.body.errors[0].message).toBe('Resource not accessible by integration');
    const lost = { id: 'PR_0', body: 'x' };
    const missing = await world.bot('POST', '/graphql', { query: readyMutation, variables: lost });
    expect(missing.body.errors[0]).toMatchObject({
      type: 'NOT_FOUND',
      message: "Could not resolve to a node with the global id of 'PR_0'.",
    });
    expect((await apiOf(world.github)('POST', '/graphql', { query: readyMutation })).status).toBe(401);
  });

  it('carries out the rest where one mutation fails', async () => {
    const { id, path } = await draft();
    const query = `mutation ($id: ID!) {
      lost: updatePullRequest(input: {pullRequestId: "PR_0", body: "x"}) { clientMutationId }
      updatePullRequest(input: {pullRequestId: $id, body: "between # both"}) { pullRequest { body number } }
    }`;
    const { body } = await world.bot('POST', '/graphql', { query, variables: { id } });
    expect(body.data).toMatchObject({
      lost: null,
      updatePullRequest: { pullRequest: { body: 'between # both' } },
    });
    expect(body.errors).toHaveLength(1);
    expect((await world.bot('GET', path)).body.body).toBe('between # both');
  });

  it('sets the body and marks a draft as ready in one request, once', async () => {
    const { id, path } = await draft();
    world.takeEvents();
    const variables = { id, body: 'Closes #7' };
    const { body } = await world.bot('POST', '/graphql', { query: readyMutation, variables });
    expect(body).toEqual({
      data: {
        updatePullRequest: { clientMutationId: null },
        markPullRequestReadyForReview: { clientMutationId: null, pullRequest: { isDraft: false } },
      },
    });
    expect((await world.bot('GET', path)).body).toMatchObject({ draft: false, body: 'Closes #7' });
    await world.bot('POST', '/graphql', { query: readyMutation, variables });
    expect(world.takeEvents()).toEqual(['pull_request.edited', 'pull_request.ready_for_review']);
  });

  it('sent only what GitHub publishes', () => {
    expect(world.watch.problems).toEqual([]);
  });
});

describe('GraphQL documents', () => {
  it('are read with aliases, variables, defaults, lists, literals and comments', () => {
    const document = `# first "comment"
      mutation Name($id: ID!, $flag: Boolean = false) {
        short: doIt(input: {id: $id, flag: $flag, list: [1, "two \\"2\\"", null], kind: SOME}) { done { really } }
      }`;
    expect(parseGraphql(document, { id: 'x' })).toMatchObject({
      kind: 'mutation',
      fields: [
        {
          alias: 'short',
          name: 'doIt',
          arguments: { input: { id: 'x', flag: false, list: [1, 'two "2"', null], kind: 'SOME' } },
          selection: [{ name: 'done', selection: [{ name: 'really' }] }],
        },
      ],
    });
  });

  it.each([
    ['fragments', 'mutation { a { ...b } }'],
    ['directives', 'mutation { a @skip(if: true) { b } }'],
    ['strange signs', 'mutation { a & b }'],
    ['an open brace', 'mutation { a { b }'],
    ['a second operation', 'mutation { a } mutation { b }'],
    ['a required variable without a value', 'mutation ($id: ID!) { a }'],
  ])('are refused with %s', (_what, document) => {
    expect(() => parseGraphql(document, {})).toThrow(GraphqlSyntaxError);
  });
});
