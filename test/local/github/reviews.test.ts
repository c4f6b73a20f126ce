import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base, type ConversationWorld, openConversationWorld } from './conversation-world.ts';

const text = (change: (line: number) => string | undefined = () => undefined) =>
  Array.from({ length: 40 }, (_, index) => `${change(index + 1) ?? `line ${index + 1}`}\n`).join('');

describe('reviews in the local GitHub', () => {
  let world: ConversationWorld;
  let first: string;
  let path: string;

  beforeAll(async () => {
    world = await openConversationWorld({ 'long.txt': text(), 'stable.txt': text() });
    const change = (line: number) => (line === 10 || line === 30 ? `changed ${line}` : undefined);
    first = await world.push('topic', {
      'long.txt': text(change),
      'stable.txt': text(change),
      'binary.bin': 'a\0b',
    });
    const pull = await world.bot('POST', `${base}/pulls`, { title: 'Topic', head: 'topic', base: 'main' });
    path = `${base}/pulls/${pull.body.number}`;
  });
  afterAll(() => world.stop());

  const review = (comments: readonly object[], fields: object = {}) =>
    world.bot('POST', `${path}/reviews`, { event: 'COMMENT', body: 'Findings', comments, ...fields });
  const comment = (fields: object) =>
    world.bot('POST', `${path}/comments`, { body: 'x', commit_id: first, path: 'long.txt', ...fields });
  const countReviews = async () => (await world.bot('GET', `${path}/reviews?per_page=100`)).body.length;

  it('takes a review with comments on lines and ranges in one call, and sends each as an event', async () => {
    world.takeEvents();
    const { body, status } = await review(
      [
        { path: 'long.txt', line: 10, body: 'here' },
        { path: 'long.txt', line: 12, start_line: 9, side: 'RIGHT', start_side: 'RIGHT', body: 'range' },
        { path: 'stable.txt', line: 30, side: 'LEFT', body: 'was better' },
      ],
      { commit_id: first },
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'COMMENTED', commit_id: first, body: 'Findings' });
    expect(world.takeEvents()).toEqual([
      'pull_request_review.submitted',
      ...Array(3).fill('pull_request_review_comment.created'),
    ]);
    expect(world.lastEvent('pull_request_review.submitted').review.state).toBe('commented');
    const { body: comments } = await world.bot('GET', `${path}/reviews/${body.id}/comments`);
    expect(comments).toMatchObject([
      { path: 'long.txt', line: 10, side: 'RIGHT', position: 5, subject_type: 'line' },
      { line: 12, start_line: 9, start_side: 'RIGHT' },
      { path: 'stable.txt', line: 30, side: 'LEFT' },
    ]);
    expect(comments[0].diff_hunk).toMatch(
      /^@@ -7,7 \+7,7 @@.*\n line 7\n line 8\n line 9\n-line 10\n\+changed 10$/,
    );
  });

  it('loses the whole review over one line outside the diff, and says so as GitHub does', async () => {
    const before = await countReviews();
    const good = { path: 'long.txt', line: 10, body: 'good' };
    const refusals: [object, string][] = [
      [
        { path: 'long.txt', line: 20, body: 'x' },
        "Pull request review thread line must be part of the diff and Pull request review thread diff hunk can't be blank",
      ],
      [
        { path: 'long.txt', line: 20, start_line: 18, body: 'x' },
        "Pull request review thread line must be part of the diff, Pull request review thread start line must be part of the same hunk as the line., and Pull request review thread diff hunk can't be blank",
      ],
      [
        { path: 'long.txt', line: 10, start_line: 10, body: 'x' },
        'Pull request review thread start line must precede the end line.',
      ],
      [
        { path: 'nowhere.txt', line: 1, body: 'x' },
        "Pull request review thread path is invalid and Pull request review thread diff hunk can't be blank",
      ],
      [
        { path: 'binary.bin', line: 1, body: 'x' },
        "Pull request review thread line must be part of the diff and Pull request review thread diff hunk can't be blank",
      ],
      [
        { path: 'long.txt', position: 99, body: 'x' },
        "Pull request review thread position is invalid and Pull request review thread diff hunk can't be blank",
      ],
    ];
    world.takeEvents();
    for (const [bad, message] of refusals) {
      const answer = await review([good, bad]);
      expect(answer).toMatchObject({
        status: 422,
        body: { message: 'Unprocessable Entity', errors: [message] },
      });
    }
    expect(await countReviews()).toBe(before);
    expect(world.takeEvents()).toEqual([]);
  });

  it('refuses commits that are not in the pull request', async () => {
    const answer = await review([], { commit_id: '0'.repeat(40) });
    expect(answer.body.errors).toEqual(['The commitOID is not part of the pull request']);
    const single = await comment({ line: 10, commit_id: '0'.repeat(40) });
    expect(single.body.errors[0]).toMatchObject({ field: 'commit_id', code: 'custom' });
  });

  it('takes no approval of the author, no empty review and no review that stays pending', async () => {
    const errors = async (fields: object) => (await review([], fields)).body.errors[0];
    expect(await errors({ event: 'APPROVE' })).toBe('Can not approve your own pull request');
    expect(await errors({ event: 'REQUEST_CHANGES' })).toBe(
      'Can not request changes on your own pull request',
    );
    expect(await errors({ body: '' })).toBe("Review body can't be blank");
    expect(await errors({ event: undefined })).toContain('pending');
    expect(await errors({ body: 'x'.repeat(65_537) })).toContain('Body is too long');
    const approved = await world.wilma('POST', `${path}/reviews`, { event: 'APPROVE' });
    expect(approved.body).toMatchObject({ state: 'APPROVED', body: '', commit_id: first });
  });

  it('takes a person who reviewed off the list of those asked', async () => {
    await world.bot('POST', `${path}/requested_reviewers`, { reviewers: ['wilma'] });
    await world.wilma('POST', `${path}/reviews`, { event: 'REQUEST_CHANGES', body: 'No.' });
    const { body } = await world.bot('GET', `${path}/requested_reviewers`);
    expect(body.users).toEqual([]);
  });

  it('takes comments on a file as a whole where no line fits', async () => {
    const { body, status } = await comment({ subject_type: 'file', path: 'binary.bin' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ subject_type: 'file', path: 'binary.bin', diff_hunk: '' });
    expect(body).not.toHaveProperty('line');
    expect(world.lastEvent('pull_request_review_comment.created').comment.line).toBeNull();
    const outside = await comment({ subject_type: 'file', path: 'README.md' });
    expect(outside.body.errors).toEqual([
      {
        resource: 'PullRequestReviewComment',
        code: 'invalid',
        field: 'pull_request_review_thread.path',
      },
      {
        resource: 'PullRequestReviewComment',
        code: 'missing_field',
        field: 'pull_request_review_thread.diff_hunk',
      },
    ]);
  });

  it('refuses a single comment outside the diff with its field', async () => {
    const { body, status } = await comment({ line: 20 });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      message: 'Validation Failed',
      errors: [
        {
          field: 'pull_request_review_thread.line',
          code: 'custom',
          message: 'pull_request_review_thread.line must be part of the diff',
        },
        { field: 'pull_request_review_thread.diff_hunk' },
      ],
    });
    const missing = await world.bot('POST', `${path}/comments`, { body: 'x', line: 10 });
    expect(missing.body.message).toBe('Invalid request.\n\n"commit_id", "path" weren\'t supplied.');
  });

  it('threads replies below the first comment and takes none to a reply', async () => {
    const { body: parent } = await comment({ line: 30, body: '/metainfer status' });
    world.takeEvents();
    const { body: reply, status } = await world.wilma('POST', `${path}/comments/${parent.id}/replies`, {
      body: 'Answer',
    });
    expect(status).toBe(201);
    expect(reply).toMatchObject({ in_reply_to_id: parent.id, line: 30, path: 'long.txt' });
    expect(world.takeEvents()).toEqual([
      'pull_request_review.submitted',
      'pull_request_review_comment.created',
    ]);
    const nested = await world.bot('POST', `${path}/comments/${reply.id}/replies`, { body: 'x' });
    expect(nested.status).toBe(404);
    const other = await world.bot('POST', `${path}/comments`, { body: 'too', in_reply_to: parent.id });
    expect(other.body.in_reply_to_id).toBe(parent.id);
  });

  it('takes reactions to and edits of review comments', async () => {
    const { body: made } = await comment({ line: 10 });
    const one = `${base}/pulls/comments/${made.id}`;
    expect((await world.bot('POST', `${one}/reactions`, { content: 'rocket' })).status).toBe(201);
    expect((await world.bot('POST', `${one}/reactions`, { content: 'rocket' })).status).toBe(200);
    const edited = await world.bot('PATCH', one, { body: 'y' });
    expect(edited.body).toMatchObject({ body: 'y', reactions: { rocket: 1 } });
    expect(world.lastEvent('pull_request_review_comment.edited').changes).toEqual({ body: { from: 'x' } });
    expect((await world.rita('PATCH', one, { body: 'z' })).status).toBe(403);
  });

  it('moves comments on with the head, and calls those outdated whose file changed', async () => {
    const { body: stays } = await comment({ line: 10, path: 'stable.txt' });
    const { body: goes } = await comment({ line: 10, path: 'long.txt' });
    const second = await world.push('topic', {
      'long.txt': text((line) => (line === 11 ? 'other' : undefined)),
    });
    const { body: kept } = await world.bot('GET', `${base}/pulls/comments/${stays.id}`);
    expect(kept).toMatchObject({ commit_id: second, original_commit_id: first, line: 10 });
    const { body: outdated } = await world.bot('GET', `${base}/pulls/comments/${goes.id}`);
    expect(outdated).toMatchObject({ commit_id: first, original_commit_id: first, original_line: 10 });
    expect(outdated).not.toHaveProperty('line');
    const late = await review([{ path: 'long.txt', line: 10, body: 'late' }], { commit_id: first });
    expect(late).toMatchObject({ status: 200, body: { commit_id: first } });
  });

  it('answered and sent only what GitHub publishes', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
