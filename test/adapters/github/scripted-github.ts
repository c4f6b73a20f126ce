import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  /** Without `/api/v3`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Record<string, never> & Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
}

export interface ScriptedReply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly raw?: Buffer;
}

export type Handler = (request: SeenRequest, match: RegExpExecArray) => ScriptedReply;

/** A fault for the next request that fits; `lands`: the handler runs all the same, only the answer is lost. */
export interface Fault {
  readonly method: string;
  readonly path: RegExp;
  readonly reply: ScriptedReply | 'hang up';
  readonly lands?: boolean;
}

export interface ScriptedGitHub {
  readonly url: string;
  readonly seen: SeenRequest[];
  readonly faults: Fault[];
  /** Routes are tried newest first. */
  on(method: string, path: RegExp, handler: Handler): void;
  /** How often a request of this kind came over the wire. */
  count(method: string, path: RegExp): number;
  stop(): Promise<void>;
}

async function readJson(request: IncomingMessage): Promise<SeenRequest['body']> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  return (text === '' ? {} : JSON.parse(text)) as SeenRequest['body'];
}

/** A GitHub that answers what a test tells it to, and remembers every request. Tokens count up: `token-1`, … */
export async function startScriptedGitHub(): Promise<ScriptedGitHub> {
  const routes: { method: string; path: RegExp; handler: Handler }[] = [];
  const seen: SeenRequest[] = [];
  const faults: Fault[] = [];
  const notFound: ScriptedReply = { status: 404, body: { message: 'Not Found' } };

  function answer(request: SeenRequest): ScriptedReply {
    for (const { method, path, handler } of [...routes].reverse()) {
      const match = method === request.method ? path.exec(request.path) : null;
      if (match !== null) return handler(request, match);
    }
    return notFound;
  }
  function takeFault(request: SeenRequest): Fault | undefined {
    const index = faults.findIndex((it) => it.method === request.method && it.path.test(request.path));
    return index < 0 ? undefined : faults.splice(index, 1)[0];
  }

  const server = createServer(async (incoming, response) => {
    const url = new URL(incoming.url ?? '/', 'http://localhost');
    const request: SeenRequest = {
      method: incoming.method ?? 'GET',
      path: decodeURIComponent(url.pathname.replace(/^\/api(?:\/v3)?/, '')),
      query: url.searchParams,
      body: await readJson(incoming),
      headers: incoming.headers,
    };
    seen.push(request);
    const fault = takeFault(request);
    const landed = fault === undefined || fault.lands === true ? answer(request) : notFound;
    const reply = fault?.reply ?? landed;
    if (reply === 'hang up') {
      incoming.socket.destroy();
      return;
    }
    const hasJson = reply.raw === undefined && reply.body !== undefined;
    response.writeHead(reply.status, {
      ...(hasJson ? { 'content-type': 'application/json; charset=utf-8' } : {}),
      ...reply.headers,
    });
    const content = reply.raw ?? (hasJson ? Buffer.from(JSON.stringify(reply.body)) : Buffer.alloc(0));
    // A content-length that promises more than comes: the answer breaks off.
    if (Number(reply.headers?.['content-length'] ?? 0) > content.length) {
      response.write(content, () => incoming.socket.destroy());
      return;
    }
    response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const scripted: ScriptedGitHub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    faults,
    on: (method, path, handler) => void routes.push({ method, path, handler }),
    count: (method, path) => seen.filter((it) => it.method === method && path.test(it.path)).length,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  let tokens = 0;
  scripted.on('POST', /^\/app\/installations\/5\/access_tokens$/, () => {
    tokens += 1;
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    return { status: 201, body: { token: `token-${tokens}`, expires_at: expires, permissions: {} } };
  });
  scripted.on('GET', /^\/app$/, () => ({
    status: 200,
    body: { slug: 'metainfer', html_url: 'https://x/app' },
  }));
  return scripted;
}
