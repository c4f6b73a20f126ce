import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toIntent } from '../../src/webhooks/to-intent.ts';
import { bot, githubPayload, githubUser, person, place, repositoryRef } from './github-payload.ts';
import { ignoredBecause, intentOf } from './intent-of.ts';

const ada = { id: 1001, login: 'ada', isBot: false };
const sha = 'a'.repeat(40);

describe('issues', () => {
  const issue = { number: 12, title: 'Engine', body: 'text', user: person, state: 'open' };

  it('takes a newly opened issue with everything that the run needs to know', () => {
    expect(intentOf('issues', 'opened', { issue })).toEqual({
      kind: 'consider-issue',
      repository: repositoryRef,
      actor: ada,
      issue: 12,
      title: 'Engine',
      body: 'text',
      author: ada,
      labels: [],
      reason: 'opened',
    });
  });

  it('takes the sender of the event as the actor, not the author of the issue', () => {
    const grace = githubUser(1003, 'grace', 'User');
    expect(
      intentOf('issues', 'edited', { issue, sender: grace, changes: { body: { from: 'old' } } }),
    ).toMatchObject({ reason: 'edited', actor: { login: 'grace' }, author: { login: 'ada' } });
  });

  it('reads an empty body as no text', () => {
    expect(intentOf('issues', 'reopened', { issue: { ...issue, body: null } })).toMatchObject({
      reason: 'reopened',
      body: '',
    });
  });

  it('names ghost as the author where the account was deleted', () => {
    expect(intentOf('issues', 'reopened', { issue: { ...issue, user: null } })).toMatchObject({
      author: { login: 'ghost', isBot: false },
    });
  });

  it('ignores an edit of the title alone', () => {
    const changes = { title: { from: 'old' } };
    expect(ignoredBecause(intentOf('issues', 'edited', { issue, changes }))).toBe('the body was not edited');
  });

  const label = (name: string) => ({
    id: 3,
    node_id: 'x',
    url: 'https://api.github.com/x',
    name,
    color: 'ededed',
    default: false,
    description: null,
  });

  it('takes the label that lets a request through, with the labels of the issue', () => {
    const approved = label('metainfer:approved');
    const labelled = { ...issue, labels: [approved] };
    expect(intentOf('issues', 'labeled', { issue: labelled, label: approved })).toMatchObject({
      reason: 'labeled',
      label: 'metainfer:approved',
      labels: ['metainfer:approved'],
    });
  });

  it('ignores labels of other kinds: opening an issue with labels sends one event for each', () => {
    expect(ignoredBecause(intentOf('issues', 'labeled', { issue, label: label('bug') }))).toBe(
      'the label is not one of ours',
    );
  });

  it('ignores closed issues', () => {
    const changes = { body: { from: 'old' } };
    const closed = { ...issue, state: 'closed' };
    expect(ignoredBecause(intentOf('issues', 'edited', { issue: closed, changes }))).toBe(
      'the issue is closed',
    );
  });

  it('ignores what a bot did, its own edits included', () => {
    expect(ignoredBecause(intentOf('issues', 'opened', { issue, sender: bot }))).toBe('a bot did it');
  });

  it('ignores actions that it has no use for', () => {
    expect(
      ignoredBecause(
        toIntent('issues', githubPayload('issues', 'pinned', { ...place, issue, sender: person })),
      ),
    ).toBe('issues.pinned is not used');
  });
});

describe('comments', () => {
  const comment = (body: string) => ({ id: 900, body, user: person });

  it('reads the commands of a comment on an issue', () => {
    const fields = { issue: { number: 12, user: person }, comment: comment('please\r\n/metainfer status') };
    expect(intentOf('issue_comment', 'created', fields)).toEqual({
      kind: 'command',
      repository: repositoryRef,
      actor: ada,
      place: { number: 12, isPull: false, comment: { kind: 'issue-comment', id: 900 } },
      commands: [{ kind: 'command', name: 'status', arguments: {} }],
    });
  });

  it('tells a comment on a pull request from one on an issue', () => {
    const link = 'https://api.github.com/x';
    const pull = { url: link, html_url: link, diff_url: link, patch_url: link };
    const fields = {
      issue: { number: 13, user: person, pull_request: pull },
      comment: comment('/metainfer retry'),
    };
    expect(intentOf('issue_comment', 'created', fields)).toMatchObject({
      place: { number: 13, isPull: true },
    });
  });

  it('reads the commands of a comment on a line of a pull request', () => {
    const fields = { pull_request: { number: 13 }, comment: comment('/metainfer help') };
    expect(intentOf('pull_request_review_comment', 'created', fields)).toMatchObject({
      kind: 'command',
      place: { number: 13, isPull: true, comment: { kind: 'review-comment', id: 900, threadId: 900 } },
    });
  });

  it.each([
    [{ path: 'engines/a/norm_rms.cpp', line: 12, side: 'RIGHT' }, 12],
    [{ path: 'engines/a/norm_rms.cpp', line: 12, side: 'LEFT' }, null],
    [{ path: 'engines/a/norm_rms.cpp', line: null, side: 'RIGHT' }, null],
    [{ path: 'engines/a/norm_rms.cpp' }, null],
  ])('knows the file of a review comment, and the line where it is one of today: %j', (place, line) => {
    const fields = { pull_request: { number: 13 }, comment: { ...comment('/metainfer fix it'), ...place } };
    expect(intentOf('pull_request_review_comment', 'created', fields)).toMatchObject({
      place: { comment: { file: { path: place.path, line } } },
      commands: [{ name: 'fix', arguments: { what: 'it' } }],
    });
  });

  it('keeps a line that is not understood, so that its writer gets an answer', () => {
    const fields = { issue: { number: 12, user: person }, comment: comment('/metainfer genrate') };
    expect(intentOf('issue_comment', 'created', fields)).toMatchObject({
      commands: [{ kind: 'not-understood', line: '/metainfer genrate' }],
    });
  });

  it('ignores edited comments, comments without a command, and comments of bots', () => {
    const issue = { number: 12, user: person };
    const command = comment('/metainfer generate');
    expect(ignoredBecause(intentOf('issue_comment', 'edited', { issue, comment: command }))).toBe(
      'issue_comment.edited is not used',
    );
    expect(ignoredBecause(intentOf('issue_comment', 'created', { issue, comment: comment('thanks!') }))).toBe(
      'the comment holds no command',
    );
    expect(
      ignoredBecause(intentOf('issue_comment', 'created', { issue, comment: command, sender: bot })),
    ).toBe('a bot wrote it');
  });
});

describe('pull requests', () => {
  const pull = (over: object = {}) => ({
    number: 13,
    user: person,
    draft: false,
    head: { ref: 'add-engine', sha, repo: { id: 77 } },
    base: { ref: 'trunk' },
    ...over,
  });

  it.each(['opened', 'synchronize', 'ready_for_review', 'reopened'])('looks at one that was %s', (action) => {
    const more = action === 'synchronize' ? { before: 'b'.repeat(40), after: sha } : {};
    expect(intentOf('pull_request', action, { number: 13, pull_request: pull(), ...more })).toEqual({
      kind: 'consider-pull',
      repository: repositoryRef,
      actor: ada,
      pull: 13,
      author: ada,
      headSha: sha,
      headRef: 'add-engine',
      baseRef: 'trunk',
      isFork: false,
      isDraft: false,
      reason: action,
    });
  });

  it('knows a fork by the id of its repository, also where the fork was deleted', () => {
    const fork = pull({ head: { ref: 'x', sha, repo: { id: 78 } } });
    const gone = pull({ head: { ref: 'x', sha, repo: null } });
    expect(intentOf('pull_request', 'opened', { pull_request: fork })).toMatchObject({ isFork: true });
    expect(
      toIntent('pull_request', { action: 'opened', ...place, sender: person, pull_request: gone }),
    ).toMatchObject({ kind: 'consider-pull', isFork: true });
  });

  it('looks at pull requests of bots, but not at the engines that this app pushed', () => {
    const own = pull({ user: bot, head: { ref: 'metainfer/12-qwen', sha, repo: { id: 77 } } });
    expect(
      intentOf('pull_request', 'opened', { pull_request: pull({ user: bot }), sender: bot }),
    ).toMatchObject({
      kind: 'consider-pull',
      actor: { isBot: true },
    });
    expect(ignoredBecause(intentOf('pull_request', 'opened', { pull_request: own, sender: bot }))).toBe(
      'it is an engine of our own',
    );
    expect(intentOf('pull_request', 'opened', { pull_request: own }).kind).toBe('consider-pull');
  });

  it('tells a merge from a close', () => {
    const closed = (merged: boolean) =>
      intentOf('pull_request', 'closed', { pull_request: pull({ merged }) });
    expect(closed(true)).toEqual({
      kind: 'pull-closed',
      repository: repositoryRef,
      actor: ada,
      pull: 13,
      headRef: 'add-engine',
      isMerged: true,
    });
    expect(closed(false)).toMatchObject({ isMerged: false });
  });
});

describe('anything else', () => {
  it('ignores events that it has no use for', () => {
    expect(toIntent('star', { action: 'created' })).toEqual({
      kind: 'ignored',
      because: 'the event "star" is not used',
    });
  });

  it('says where a payload is not as expected', () => {
    expect(ignoredBecause(toIntent('issues', { action: 'opened', ...place, sender: person }))).toMatch(
      /^the payload is not as expected at issue: /,
    );
  });

  it('ignores what came without an installation: a webhook of the repository and not of the app', () => {
    const { installation: _, ...rest } = place;
    const payload = githubPayload('workflow_job', 'queued', { ...rest, sender: person });
    expect(ignoredBecause(toIntent('workflow_job', payload))).toMatch(/at installation: /);
  });

  const events = ['issues', 'issue_comment', 'pull_request', 'check_run', 'workflow_run', 'installation'];
  it('never throws, whatever the event and the payload', () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...events), fc.string()), fc.anything(), (event, payload) => {
        expect(toIntent(event, payload)).toHaveProperty('kind');
      }),
      { numRuns: 500 },
    );
  });

  it('never throws where one field of a real payload is something else', () => {
    const payload = githubPayload('issue_comment', 'created', {
      ...place,
      sender: person,
      issue: { number: 12, user: person },
      comment: { id: 900, body: '/metainfer status' },
    });
    const paths = fc.constantFrom(
      ...[['comment'], ['comment', 'body'], ['issue', 'number'], ['sender', 'type'], ['repository', 'owner']],
    );
    fc.assert(
      fc.property(paths, fc.anything(), ([outer, inner], value) => {
        const broken = inner === undefined ? value : { ...(payload[outer!] as object), [inner]: value };
        expect(toIntent('issue_comment', { ...payload, [outer!]: broken })).toHaveProperty('kind');
      }),
    );
  });
});
