import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { openIssue } from '../../../src/adapters/github/open-issue.ts';

const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});

/** Answers every request with one status; null: breaks the connection. */
async function answerWith(status: number | null): Promise<{ apiUrl: string; count(): number }> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    if (status === null) request.socket.destroy();
    else response.writeHead(status, { 'content-type': 'application/json' }).end('{"message":"because"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  return { apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, count: () => count };
}

describe('openIssue', () => {
  it.each([
    [401, 'NOT_PERMITTED', /does not accept the token/],
    [403, 'NOT_PERMITTED', /Issues: read and write/],
    [404, 'USAGE', /no repository ada\/engines/],
    [410, 'USAGE', /issues switched off/],
    [422, 'USAGE', /refused the issue: .*because/],
    [502, 'GITHUB_UNAVAILABLE', /Look at the issues of ada\/engines before you try again/],
    [null, 'GITHUB_UNAVAILABLE', /Look at the issues of ada\/engines before you try again/],
  ])('says what to do when GitHub answers %s, having asked once', async (status, code, message) => {
    const { apiUrl, count } = await answerWith(status);
    const request = { apiUrl, token: 'ghp_secret', owner: 'ada', name: 'engines', title: 't', body: 'b' };
    const failure = await openIssue(request).catch((error: unknown) => error as Error & { code: string });
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
    expect([count(), String(failure).includes('ghp_secret')]).toEqual([1, false]);
  });
});
