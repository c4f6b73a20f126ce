import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RateLimitedError } from '../../../src/adapters/github/github-errors.ts';
import { type AppUnderTest, openApp, repositoryRef } from './app-under-test.ts';
import { type ScriptedGitHub, startScriptedGitHub } from './scripted-github.ts';

const issuePath = /^\/repos\/octo\/engines\/issues\/7$/;
const labelsPath = /^\/repos\/octo\/engines\/issues\/7\/labels$/;
const tokenPath = /\/access_tokens$/;
const issue = { body: 'text', state: 'open', labels: [{ name: 'a' }, 'b'], user: { id: 9 } };

let github: ScriptedGitHub;
let app: AppUnderTest;

beforeEach(async () => {
  github = await startScriptedGitHub();
  github.on('GET', issuePath, () => ({ status: 200, body: issue }));
  github.on('POST', labelsPath, () => ({ status: 200, body: [] }));
  app = openApp(`${github.url}/api/v3`);
});
afterEach(() => github.stop());

const repository = () => app.client.repository(repositoryRef);

function secondaryLimit(seconds: number) {
  return {
    status: 403,
    headers: { 'retry-after': String(seconds) },
    body: { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' },
  };
}

describe('limits of GitHub', () => {
  it('obeys the retry-after of a secondary limit and sends the write again', async () => {
    github.faults.push({ method: 'POST', path: labelsPath, reply: secondaryLimit(3) });
    await repository().addLabel(7, 'metainfer:needs-knowledge');
    expect(github.count('POST', labelsPath)).toBe(2);
  });

  it('gives a limit that does not end back to the queue after two more tries', async () => {
    for (let fault = 0; fault < 9; fault += 1) {
      github.faults.push({ method: 'POST', path: labelsPath, reply: secondaryLimit(3) });
    }
    await expect(repository().addLabel(7, 'x')).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
      retryAfterSeconds: 3,
    });
    expect(github.count('POST', labelsPath)).toBe(3);
  });

  it('does not sleep through a long wait, and sends nothing more until it is over', async () => {
    github.faults.push({ method: 'POST', path: labelsPath, reply: secondaryLimit(900) });
    const refused = await repository()
      .addLabel(7, 'x')
      .catch((error) => error);
    expect(refused).toBeInstanceOf(RateLimitedError);
    expect(refused.retryAfterSeconds).toBe(900);
    await expect(repository().readIssue(7)).rejects.toBeInstanceOf(RateLimitedError);
    expect(github.count('GET', issuePath)).toBe(0);
  });

  it('knows the primary limit by its headers', async () => {
    const reset = Math.ceil(Date.now() / 1000) + 1200;
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) };
    const reply = { status: 403, headers, body: { message: 'API rate limit exceeded for installation' } };
    github.faults.push({ method: 'GET', path: issuePath, reply });
    const refused = await repository()
      .readIssue(7)
      .catch((error) => error);
    expect(refused.retryAfterSeconds).toBeGreaterThan(1100);
    expect(refused.retryAfterSeconds).toBeLessThan(1300);
  });

  it('never repeats a 429 on a schedule of its own', async () => {
    const reply = { status: 429, headers: { 'retry-after': '300' }, body: { message: 'Too many requests' } };
    for (let fault = 0; fault < 9; fault += 1) github.faults.push({ method: 'GET', path: issuePath, reply });
    await expect(repository().readIssue(7)).rejects.toMatchObject({ retryAfterSeconds: 300 });
    expect(github.count('GET', issuePath)).toBe(1);
  });

  it('repeats a read that got a 502', async () => {
    const reply = { status: 502, body: { message: 'Server Error' } };
    github.faults.push({ method: 'GET', path: issuePath, reply }, { method: 'GET', path: issuePath, reply });
    expect(await repository().readIssue(7)).toEqual({
      body: 'text',
      state: 'open',
      labels: ['a', 'b'],
      isPull: false,
      authorId: 9,
    });
    expect(app.client.requestCounts).toEqual({ reads: 3, writes: 0, notifying: 0 });
  });
});

describe('refusals of GitHub', () => {
  const notAccessible = {
    status: 403,
    headers: { 'x-accepted-github-permissions': 'issues=write; pull_requests=write' },
    body: { message: 'Resource not accessible by integration', documentation_url: 'https://docs' },
  };

  it('names the missing permission, and who can grant it', async () => {
    for (let fault = 0; fault < 2; fault += 1) {
      github.faults.push({ method: 'POST', path: labelsPath, reply: notAccessible });
    }
    const refused = await repository()
      .addLabel(7, 'x')
      .catch((error) => error);
    expect(refused.code).toBe('NOT_PERMITTED');
    expect(refused.message).toContain('"issues: write or pull_requests: write"');
    expect(refused.message).toContain('An owner of octo');
    expect(refused.message).not.toContain('token-');
  });

  it('asks again with a token minted anew, since a permission may have been granted meanwhile', async () => {
    await repository().readIssue(7);
    github.faults.push({ method: 'POST', path: labelsPath, reply: notAccessible });
    await repository().addLabel(7, 'x');
    expect(github.count('POST', tokenPath)).toBe(2);
    const sent = github.seen
      .filter(({ path }) => labelsPath.test(path))
      .map((it) => it.headers.authorization);
    expect(sent).toEqual(['token token-1', 'token token-2']);
  });

  it('asks again with a new token where GitHub no longer knows the old one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      await repository().readIssue(7);
      // Octokit puts a 401 in a token's first five seconds down to replication, and waits.
      vi.setSystemTime(Date.now() + 10_000);
      const reply = { status: 401, body: { message: 'Bad credentials' } };
      github.faults.push({ method: 'POST', path: labelsPath, reply });
      await repository().addLabel(7, 'x');
      expect(github.count('POST', tokenPath)).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('mints one token for many requests of an installation', async () => {
    await repository().readIssue(7);
    await repository().readIssue(7);
    expect(github.count('POST', tokenPath)).toBe(1);
  });

  it("passes GitHub's own words on where no permission is missing, without links", async () => {
    const message = 'Repository was archived so is read-only. - https://docs.github.com/rest/issues';
    github.faults.push({ method: 'POST', path: labelsPath, reply: { status: 403, body: { message } } });
    await expect(repository().addLabel(7, 'x')).rejects.toMatchObject({
      code: 'NOT_PERMITTED',
      message:
        'GitHub refused POST /api/v3/repos/octo/engines/issues/7/labels: "Repository was archived so is read-only."',
    });
  });

  it('says where something is missing that has to be there', async () => {
    await expect(repository().readIssue(8)).rejects.toMatchObject({
      code: 'NOT_PERMITTED',
      message: expect.stringContaining('GET /api/v3/repos/octo/engines/issues/8 (404)'),
    });
  });

  it('pins the version of the REST API', async () => {
    await repository().readIssue(7);
    const request = github.seen.find(({ path }) => issuePath.test(path));
    expect(request?.headers['x-github-api-version']).toBe('2022-11-28');
  });
});
