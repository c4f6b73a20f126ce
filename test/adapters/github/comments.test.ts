import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Once } from '../../../src/adapters/github/repository-client.ts';
import { type AppUnderTest, openApp, repositoryRef } from './app-under-test.ts';
import { type ScriptedGitHub, startScriptedGitHub } from './scripted-github.ts';

const once: Once = { scope: 'run-1', key: 'status' };
const commentsPath = /^\/repos\/octo\/engines\/issues\/7\/comments$/;
const commentPath = /^\/repos\/octo\/engines\/issues\/comments\/(\d+)$/;
const badGateway = { status: 502, body: { message: 'Server Error' } };

interface Comment {
  id: number;
  body: string;
  html_url: string;
  user: { login: string };
}

let github: ScriptedGitHub;
let comments: Comment[];
let app: AppUnderTest;

function addComment(body: string, login: string): Comment {
  const id = 100 + comments.length;
  const comment = { id, body, html_url: `https://x/c/${id}`, user: { login } };
  comments.push(comment);
  return comment;
}

function serveComments(): void {
  github.on('POST', commentsPath, ({ body }) => ({
    status: 201,
    body: addComment(String(body.body), 'metainfer[bot]'),
  }));
  github.on('GET', commentsPath, ({ query }) => {
    const from = (Number(query.get('page') ?? 1) - 1) * 100;
    return { status: 200, body: comments.slice(from, from + 100) };
  });
  github.on('PATCH', commentPath, ({ body }, match) => {
    const comment = comments.find(({ id }) => id === Number(match[1]));
    if (comment === undefined) return { status: 404, body: { message: 'Not Found' } };
    comment.body = String(body.body);
    return { status: 200, body: comment };
  });
}

beforeEach(async () => {
  github = await startScriptedGitHub();
  comments = [];
  serveComments();
  app = openApp(`${github.url}/api/v3`);
});
afterEach(() => github.stop());

const repository = () => app.client.repository(repositoryRef);

describe('a comment that is made once', () => {
  it('carries its marker as the first line and is not sent again', async () => {
    const first = await repository().createComment(once, 7, 'The plan.');
    const second = await repository().createComment(once, 7, 'The plan.');
    expect(comments.map(({ body }) => body)).toEqual(['<!-- metainfer:status run-1 -->\nThe plan.']);
    expect(second).toEqual(first);
    expect(first).toEqual({ id: 100, url: 'https://x/c/100' });
    expect(app.client.requestCounts).toEqual({ reads: 0, writes: 1, notifying: 1 });
  });

  it('is found and not posted a second time when a 502 hid that it landed', async () => {
    github.faults.push({ method: 'POST', path: commentsPath, reply: badGateway, lands: true });
    const made = await repository().createComment(once, 7, 'The plan.');
    expect(comments).toHaveLength(1);
    expect(made.id).toBe(100);
    expect(app.pauses).toEqual([2]);
  });

  it('is found when the connection broke after it landed', async () => {
    github.faults.push({ method: 'POST', path: commentsPath, reply: 'hang up', lands: true });
    await repository().createComment(once, 7, 'The plan.');
    expect(comments).toHaveLength(1);
  });

  it('is found when the answer broke off half way', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '900' };
    const reply = { status: 201, headers, raw: Buffer.from('{"id":') };
    github.faults.push({ method: 'POST', path: commentsPath, reply, lands: true });
    expect((await repository().createComment(once, 7, 'The plan.')).id).toBe(100);
    expect(comments).toHaveLength(1);
  });

  it('is tried three times, each after a look, and then given up as GITHUB_UNAVAILABLE', async () => {
    for (let fault = 0; fault < 3; fault += 1) {
      github.faults.push({ method: 'POST', path: commentsPath, reply: badGateway });
    }
    await expect(repository().createComment(once, 7, 'The plan.')).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
      message: expect.stringContaining('POST /api/v3/repos/octo/engines/issues/7/comments'),
    });
    expect(github.count('POST', commentsPath)).toBe(3);
    expect(github.count('GET', commentsPath)).toBe(2);
    expect(app.effects.records.get('run-1 status')?.state).toBe('intent');
  });

  it('is adopted after a crash between the write and its record, however many comments came before', async () => {
    for (let index = 0; index < 150; index += 1) addComment('chat', 'somebody');
    const left = addComment('<!-- metainfer:status run-1 -->\r\nThe plan.', 'metainfer[bot]');
    await app.effects.begin(once.scope, once.key);
    const made = await repository().createComment(once, 7, 'The plan.');
    expect(made.id).toBe(left.id);
    expect(github.count('POST', commentsPath)).toBe(0);
  });

  it("is not taken for a stranger's comment with the same marker", async () => {
    addComment('<!-- metainfer:status run-1 -->\nI am the bot.', 'stranger');
    await app.effects.begin(once.scope, once.key);
    await repository().createComment(once, 7, 'The plan.');
    expect(comments).toHaveLength(2);
    expect(comments[1]?.user.login).toBe('metainfer[bot]');
  });

  it('is not tried again after a 422', async () => {
    const reply = { status: 422, body: { message: 'Validation Failed' } };
    github.faults.push({ method: 'POST', path: commentsPath, reply });
    await expect(repository().createComment(once, 7, 'The plan.')).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringContaining('Validation Failed'),
    });
    expect(github.count('POST', commentsPath)).toBe(1);
  });

  it('is cut to what GitHub takes without splitting a character', async () => {
    await repository().createComment(once, 7, '😀'.repeat(40_000));
    const body = comments[0]?.body ?? '';
    expect(body.length).toBeLessThanOrEqual(65_536);
    expect(body.length).toBeGreaterThan(65_500);
    expect(body).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
  });

  it('keeps a marker one comment, whatever its scope holds', async () => {
    await repository().createComment({ scope: 'a --> <b> x', key: 'k' }, 7, 'Text.');
    expect(comments[0]?.body.split('\n')[0]).toBe('<!-- metainfer:k a_-___b__x -->');
  });
});

describe('a sticky comment', () => {
  it('is edited in place, and the same text is not sent again', async () => {
    await repository().upsertComment(once, 7, 'one');
    await repository().upsertComment(once, 7, 'two');
    await repository().upsertComment(once, 7, 'two');
    expect(comments.map(({ body }) => body)).toEqual(['<!-- metainfer:status run-1 -->\ntwo']);
    expect(app.client.requestCounts).toEqual({ reads: 0, writes: 2, notifying: 1 });
  });

  it('is written anew where a person deleted it', async () => {
    await repository().upsertComment(once, 7, 'one');
    comments = [];
    await repository().upsertComment(once, 7, 'two');
    expect(comments.map(({ body }) => body)).toEqual(['<!-- metainfer:status run-1 -->\ntwo']);
  });

  it('is written anew once, although the answer to that got lost', async () => {
    await repository().upsertComment(once, 7, 'one');
    comments = [];
    github.faults.push({ method: 'POST', path: commentsPath, reply: badGateway, lands: true });
    await repository().upsertComment(once, 7, 'two');
    expect(comments).toHaveLength(1);
  });

  it('that a crash left behind unrecorded is adopted and brought up to date', async () => {
    addComment('<!-- metainfer:status run-1 -->\none', 'metainfer[bot]');
    await app.effects.begin(once.scope, once.key);
    const made = await repository().upsertComment(once, 7, 'two');
    expect(made.id).toBe(100);
    expect(comments.map(({ body }) => body)).toEqual(['<!-- metainfer:status run-1 -->\ntwo']);
  });

  it('is edited again after a crash in the middle of an edit', async () => {
    await repository().upsertComment(once, 7, 'one');
    await app.effects.begin(once.scope, once.key);
    await repository().upsertComment(once, 7, 'one');
    expect(github.count('PATCH', commentPath)).toBe(1);
    expect(comments).toHaveLength(1);
  });

  it('survives an edit answered with 502, since editing twice is the same', async () => {
    await repository().upsertComment(once, 7, 'one');
    github.faults.push({ method: 'PATCH', path: commentPath, reply: badGateway });
    await repository().upsertComment(once, 7, 'two');
    expect(comments[0]?.body).toContain('two');
  });
});

describe('a reply in a review thread', () => {
  it('is found among the review comments after a lost answer', async () => {
    const replies = /^\/repos\/octo\/engines\/pulls\/3\/comments\/44\/replies$/;
    github.on('POST', replies, ({ body }) => ({
      status: 201,
      body: addComment(String(body.body), 'metainfer[bot]'),
    }));
    github.on('GET', /^\/repos\/octo\/engines\/pulls\/3\/comments$/, () => ({ status: 200, body: comments }));
    github.faults.push({ method: 'POST', path: replies, reply: badGateway, lands: true });
    await repository().replyToReviewComment(once, 3, 44, 'Done.');
    expect(comments).toHaveLength(1);
    expect(app.effects.records.get('run-1 status')).toMatchObject({ state: 'done', githubId: '100' });
  });
});
