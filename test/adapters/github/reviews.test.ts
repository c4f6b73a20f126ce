import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isCommentable, parseHunks } from '../../../src/adapters/github/patch-lines.ts';
import type { ReviewDraft } from '../../../src/model/delivery.ts';
import { type AppUnderTest, openApp, repositoryRef } from './app-under-test.ts';
import { type ScriptedGitHub, startScriptedGitHub } from './scripted-github.ts';

const once = { scope: 'run-1', key: 'review' };
const head = 'a'.repeat(40);
const reviewsPath = /^\/repos\/octo\/engines\/pulls\/3\/reviews$/;
const commentsPath = /^\/repos\/octo\/engines\/pulls\/3\/comments$/;
const conversationPath = /^\/repos\/octo\/engines\/issues\/3\/comments$/;
const patch = '@@ -1,2 +1,4 @@\n a\n+b\n+c\n d\n@@ -20 +22,2 @@\n-x\n+y\n+z';
const user = { login: 'metainfer[bot]' };

interface InlineComment {
  readonly path: string;
  readonly line: number;
  readonly start_line?: number;
  readonly body: string;
}
interface Review {
  readonly id: number;
  readonly body: string;
  readonly html_url: string;
  readonly user: { readonly login: string };
}

let github: ScriptedGitHub;
let app: AppUnderTest;
let reviews: Review[];
let comments: Record<string, unknown>[];
let conversation: string[];
let headSha: string;
/** Whether GitHub refuses every inline comment, whatever the patches say. */
let isStubborn: boolean;

beforeEach(async () => {
  github = await startScriptedGitHub();
  [reviews, comments, conversation, headSha, isStubborn] = [[], [], [], head, false];
  const files = [
    { filename: 'engines/tiny/a.cpp', status: 'added', patch },
    { filename: 'engines/tiny/big.bin', status: 'added' },
  ];
  github.on('GET', /\/pulls\/3\/files$/, () => ({ status: 200, body: files }));
  github.on('GET', /\/pulls\/3$/, () => ({
    status: 200,
    body: {
      number: 3,
      state: 'open',
      merged_at: null,
      head: { ref: 'metainfer/7-tiny', sha: headSha, repo: { id: 1 } },
      base: { ref: 'main', repo: { id: 1 } },
    },
  }));
  github.on('GET', reviewsPath, () => ({ status: 200, body: reviews }));
  github.on('POST', reviewsPath, ({ body }) => {
    const inline = (body.comments ?? []) as unknown as InlineComment[];
    const patchOf = (path: string) => files.find(({ filename }) => filename === path)?.patch;
    const isWrong = inline.some((it) => !isCommentable(patchOf(it.path), it.line, it.start_line));
    if (isWrong || (isStubborn && inline.length > 0)) {
      const errors = ['Pull request review thread line must be part of the diff'];
      return { status: 422, body: { message: 'Unprocessable Entity', errors } };
    }
    const id = 500 + reviews.length;
    const review = { id, body: String(body.body), html_url: `https://x/r/${id}`, user };
    reviews.push(review);
    for (const it of inline) comments.push({ ...it, id: comments.length, pull_request_review_id: id, user });
    return { status: 200, body: review };
  });
  github.on('GET', commentsPath, () => ({ status: 200, body: comments }));
  github.on('POST', commentsPath, ({ body }) => {
    if (!files.some(({ filename }) => filename === body.path)) {
      return { status: 422, body: { message: 'Validation Failed', errors: [{ field: 'path' }] } };
    }
    const comment = { ...body, id: comments.length, html_url: 'https://x/f', user };
    comments.push(comment);
    return { status: 201, body: comment };
  });
  github.on('POST', conversationPath, ({ body }) => {
    conversation.push(String(body.body));
    return { status: 201, body: { id: 1, html_url: 'https://x/c' } };
  });
  app = openApp(`${github.url}/api/v3`);
});
afterEach(() => github.stop());

const repository = () => app.client.repository(repositoryRef);
const comment = (path: string, line: number, body: string, startLine?: number) => ({
  path,
  line,
  body,
  ...(startLine === undefined ? {} : { startLine }),
});
const draftOf = (...inline: ReviewDraft['comments'][number][]): ReviewDraft => ({
  body: 'One gate failed.',
  comments: inline,
  fileComments: [],
});
const fileLevel = () => comments.filter(({ subject_type }) => subject_type === 'file');

describe('the hunks of a patch', () => {
  it('show which lines of the new file can be commented on', () => {
    expect(parseHunks(patch)).toEqual([
      { firstLine: 1, lastLine: 4 },
      { firstLine: 22, lastLine: 23 },
    ]);
    expect(parseHunks('@@ -1,3 +0,0 @@\n-a\n-b\n-c')).toEqual([]);
  });

  it('want the start before the end and both in one hunk', () => {
    expect(isCommentable(patch, 4, 1)).toBe(true);
    expect(isCommentable(patch, 4, 4)).toBe(false);
    expect(isCommentable(patch, 22, 3)).toBe(false);
    expect(isCommentable(patch, 5, undefined)).toBe(false);
    expect(isCommentable(undefined, 1, undefined)).toBe(false);
  });
});

describe('a review', () => {
  const good = comment('engines/tiny/a.cpp', 3, 'this line', 2);

  it('is one request on the commit that was judged, and is sent once', async () => {
    const first = await repository().createReview(once, 3, head, draftOf(good));
    await repository().createReview(once, 3, head, draftOf(good));
    expect(first.url).toBe('https://x/r/500');
    const [sent, ...more] = github.seen.filter((it) => it.method === 'POST' && reviewsPath.test(it.path));
    expect(more).toEqual([]);
    expect(sent?.body).toEqual({
      commit_id: head,
      event: 'COMMENT',
      body: '<!-- metainfer:review run-1 -->\nOne gate failed.',
      comments: [
        {
          path: 'engines/tiny/a.cpp',
          line: 3,
          side: 'RIGHT',
          start_line: 2,
          start_side: 'RIGHT',
          body: 'this line',
        },
      ],
    });
  });

  it('keeps what is in the diff inline and moves the rest to its file after a 422', async () => {
    const bad = comment('engines/tiny/a.cpp', 10, 'far away');
    await repository().createReview(once, 3, head, draftOf(good, bad));
    expect(comments.filter(({ line }) => line === 3)).toHaveLength(1);
    expect(fileLevel()).toMatchObject([
      {
        path: 'engines/tiny/a.cpp',
        commit_id: head,
        body: '<!-- metainfer:review:file:1 run-1 -->\nLine 10 (not in the diff)\n\nfar away',
      },
    ]);
    expect(reviews).toHaveLength(1);
  });

  it('puts what is beyond three file comments into the body', async () => {
    const bad = [10, 11, 12, 13, 14].map((line) => comment('engines/tiny/a.cpp', line, `finding ${line}`));
    await repository().createReview(once, 3, head, draftOf(...bad));
    expect(fileLevel()).toHaveLength(3);
    expect(reviews[0]?.body).toContain('finding 13');
    expect(reviews[0]?.body).toContain('finding 14');
    expect(reviews[0]?.body).not.toContain('finding 12');
  });

  it('loses nothing where GitHub refuses lines that the patch shows', async () => {
    isStubborn = true;
    await repository().createReview(once, 3, head, draftOf(good));
    expect(reviews).toHaveLength(1);
    expect(fileLevel()).toMatchObject([{ body: expect.stringContaining('this line') }]);
    expect(fileLevel()[0]?.body).toContain('Lines 2 to 3 (not in the diff)');
    expect(github.count('POST', reviewsPath)).toBe(2);
  });

  it('says a finding of a file outside the pull request in the conversation', async () => {
    await repository().createReview(once, 3, head, draftOf(comment('CMakeLists.txt', 1, 'elsewhere')));
    expect(conversation).toHaveLength(1);
    expect(conversation[0]).toContain('**`CMakeLists.txt`**');
    expect(conversation[0]).toContain('elsewhere');
  });

  it('is found after a lost answer, and its file comments still come', async () => {
    const bad = comment('engines/tiny/a.cpp', 10, 'far away');
    const refused = { status: 422, body: { message: 'line must be part of the diff' } };
    const lost = { status: 502, body: { message: 'Server Error' } };
    github.faults.push(
      { method: 'POST', path: reviewsPath, reply: refused },
      { method: 'POST', path: reviewsPath, reply: lost, lands: true },
    );
    await repository().createReview(once, 3, head, draftOf(good, bad));
    expect([reviews.length, fileLevel().length]).toEqual([1, 1]);
  });

  it('is adopted after a crash before its record, and only what is missing is added', async () => {
    const bad = comment('engines/tiny/a.cpp', 10, 'far away');
    reviews.push({
      id: 500,
      body: '<!-- metainfer:review run-1 -->\nOne gate failed.',
      html_url: 'https://x/r/500',
      user,
    });
    comments.push({ path: good.path, body: good.body, pull_request_review_id: 500, user });
    await app.effects.begin(once.scope, once.key);
    await repository().createReview(once, 3, head, draftOf(good, bad));
    await repository().createReview(once, 3, head, draftOf(good, bad));
    expect(github.count('POST', reviewsPath)).toBe(0);
    expect(fileLevel()).toMatchObject([{ body: expect.stringContaining('far away') }]);
  });

  it('is not posted on code that moved on', async () => {
    headSha = 'b'.repeat(40);
    const reply = { status: 422, body: { message: 'commit_id is not part of the pull request' } };
    github.faults.push({ method: 'POST', path: reviewsPath, reply });
    await expect(repository().createReview(once, 3, head, draftOf(good))).rejects.toMatchObject({
      code: 'BRANCH_MOVED',
      message: expect.stringContaining('#3 moved from aaaaaaaaaaaa to bbbbbbbbbbbb'),
    });
    expect(reviews).toEqual([]);
  });
});
