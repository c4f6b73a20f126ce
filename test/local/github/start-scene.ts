import { createSign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type LocalGitHub,
  type LocalGitHubOptions,
  startLocalGitHub,
} from '../../../src/local/github/local-github.ts';
import type { App, Installation, Repository } from '../../../src/local/github/world.ts';
import { type GitHubWatch, watchGitHub } from '../../support/watch-github.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into GitHub's answers as they come
  readonly body: any;
}

/** One request to the API with one token. */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

export interface Received {
  readonly event: string;
  readonly guid: string;
  readonly signature: string;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into GitHub's payloads as they come
  readonly payload: any;
}

/** A running stand-in with one repository, one installed app and a receiver of its webhooks. */
export interface Scene {
  readonly github: LocalGitHub;
  readonly watch: GitHubWatch;
  readonly repository: Repository;
  readonly app: App;
  readonly privateKey: string;
  readonly installation: Installation;
  /** Webhooks in the order of their arrival. */
  readonly received: readonly Received[];
  /** Status that the receiver answers; 200 at first. */
  answerWith(status: number): void;
  call(token: string | undefined): Call;
  /** As the owner of the repository. */
  readonly owner: Call;
  /** As the installed app. */
  readonly bot: Call;
  stop(): Promise<void>;
}

export const permissions = {
  contents: 'write',
  issues: 'write',
  pull_requests: 'write',
  checks: 'write',
  actions: 'write',
};
const events =
  'issues issue_comment label pull_request pull_request_review pull_request_review_comment check_run check_suite push create delete status workflow_run workflow_job repository';
const webhookSecret = 'a secret of the test';

export async function startScene(
  options: LocalGitHubOptions & {
    readonly files?: Readonly<Record<string, string>>;
    readonly isPrivate?: boolean;
  } = {},
): Promise<Scene> {
  const github = await startLocalGitHub(options);
  const watch = watchGitHub(github);
  const receiver = await startReceiver();
  const files = options.files ?? { 'README.md': '# demo\n', 'src/one.txt': 'one\ntwo\nthree\n' };
  const repository = await github.addRepository('octo', 'demo', {
    files,
    isPrivate: options.isPrivate ?? false,
  });
  const { app, privateKey } = github.addApp({
    name: 'MetaInfer Test',
    permissions,
    events: events.split(' '),
    webhookUrl: receiver.url,
    webhookSecret,
  });
  const installation = github.install(app, [repository]);
  const call = (token: string | undefined): Call => makeCall(github.apiUrl, token);
  const path = `/app/installations/${installation.id}/access_tokens`;
  const minted = await call(signAppToken(app.id, privateKey))('POST', path);
  return {
    github,
    watch,
    repository,
    app,
    privateKey,
    installation,
    received: receiver.received,
    answerWith: receiver.answerWith,
    call,
    owner: call(github.userToken('octo')),
    bot: call(minted.body.token),
    async stop() {
      await github.stop();
      await receiver.stop();
    },
  };
}

function makeCall(apiUrl: string, token: string | undefined): Call {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(apiUrl + path, {
      method,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
  };
}

/** An app's JWT, as Octokit makes it. */
export function signAppToken(
  appId: number | string,
  privateKey: string,
  claims: Readonly<Record<string, unknown>> = {},
): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iat: now - 30, exp: now + 570, iss: appId, ...claims })}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`;
}

async function startReceiver() {
  const received: Received[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const header = (name: string) => String(request.headers[name]);
    received.push({
      event: header('x-github-event'),
      guid: header('x-github-delivery'),
      signature: header('x-hub-signature-256'),
      text,
      payload: JSON.parse(text),
    });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    answerWith: (next: number) => {
      status = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
