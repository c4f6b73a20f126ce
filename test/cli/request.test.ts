import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseInvocation } from '../../src/cli/arguments.ts';
import { createProgress } from '../../src/cli/progress.ts';
import { renderIssueBody, requestCommand } from '../../src/cli/request-command.ts';
import { readConfig } from '../../src/config.ts';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { CommandLine } from '../fixtures/command-line.ts';

const cli = new CommandLine();
const closers: (() => void)[] = [];
afterAll(() => {
  cli.close();
  for (const close of closers) close();
});

const example = join(packageRoot(), 'knowledge/examples/qwen3-0.6b.yaml');
const token = { METAINFER_GITHUB_TOKEN: 'ghp_of_ada' };

interface Received {
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly body: { readonly title: string; readonly body: string };
}

/** Answers every request with one status and, for 201, an issue's address. */
async function answerWith(status: number): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Received['body'];
    received.push({ path: request.url, authorization: request.headers.authorization, body });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ html_url: 'https://github.com/ada/engines/issues/5', message: 'because' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`, received };
}

describe('metainfer request', () => {
  it('opens one issue with the file in a yaml block, as the person whose token it is, and prints its address', async () => {
    const { url, received } = await answerWith(201);
    const args = ['request', example, '--repo', 'ada/engines', '--url', `${url}/`];
    const { code, stdout, stderr } = await cli.run(args, { environment: token });
    expect([code, stdout, stderr]).toEqual([0, 'https://github.com/ada/engines/issues/5\n', '']);
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      path: '/api/v3/repos/ada/engines/issues',
      authorization: 'token ghp_of_ada',
      body: { title: 'Engine: qwen3-0-6b' },
    });
    expect(received[0]?.body.body).toMatch(/^```yaml\n[\s\S]*apiVersion: metainfer\/v1\n[\s\S]*\n```\n$/);
  });

  it('tells every problem of the file and sends nothing, also for what only GitHub forbids', async () => {
    const { url, received } = await answerWith(201);
    const bad = join(packageRoot(), 'test/fixtures/constraints/10-unknown-keys.yaml');
    const local = join(packageRoot(), 'knowledge/examples/tiny-qwen3.yaml');
    const refused = await cli.run(['request', bad, '--repo', 'ada/engines', '--url', url], {
      environment: token,
    });
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/:10:\d+.*thread[\s\S]*:14:\d+.*kv-cache/),
    ]);
    const path = await cli.run(['request', local, '--repo', 'ada/engines', '--url', url], {
      environment: token,
    });
    expect([path.code, path.stderr]).toEqual([2, expect.stringMatching(/tiny-qwen3\.yaml:5:\d+.*path/)]);
    expect(received).toEqual([]);
  });

  it.each([
    [[example], {}, /--repo OWNER\/NAME/],
    [[example, '--repo', 'https://github.com/ada/engines'], token, /expected OWNER\/NAME/],
    [[example, '--repo', 'ada/engines', '--url', 'http://github.example.com'], token, /expected an https/],
    [[example, '--repo', 'ada/engines'], {}, /METAINFER_GITHUB_TOKEN/],
  ])('explains %j', async (args, environment, message) => {
    const { input } = parseInvocation(['request', ...args], [requestCommand]);
    const progress = createProgress(process.stderr, true);
    const context = {
      config: readConfig(environment),
      progress,
      signal: new AbortController().signal,
      print() {},
    };
    await expect(requestCommand.run(input, context)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(message),
    });
  });

  it('closes the block with a longer fence than any in the file', () => {
    expect(renderIssueBody('a: 1\n# ````\n\n')).toBe('`````yaml\na: 1\n# ````\n`````\n');
  });
});
