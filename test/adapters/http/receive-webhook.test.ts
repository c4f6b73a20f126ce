import { createHmac, generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import { pino } from 'pino';
import { createNodeMiddleware, Probot } from 'probot';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookReceiver } from '../../../src/adapters/http/receive-webhook.ts';

const secret = 'c0ffee'.repeat(6);
const path = '/api/github/webhooks';

type Answer = { readonly status: number; readonly text: string };

describe('a webhook', () => {
  const accepted: { name: string; payload: unknown }[] = [];
  let fault: Error | undefined;
  let server: Server;
  let port: number;
  let bytesRead = 0;

  beforeAll(async () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const probot = new Probot({ appId: 1, privateKey, secret, log: pino({ level: 'silent' }) });
    const middleware = await createNodeMiddleware(
      (app) => {
        app.onAny(({ name, payload }) => {
          if (fault !== undefined) throw fault;
          accepted.push({ name, payload });
        });
      },
      { probot, webhooksPath: path },
    );
    const receive = createWebhookReceiver(middleware);
    server = createServer((request, response) => {
      const { socket } = request;
      socket.once('close', () => (bytesRead = socket.bytesRead));
      void receive(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => void server.close());
  beforeEach(() => {
    accepted.length = 0;
    fault = undefined;
  });

  const sign = (body: string | Buffer): string =>
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

  async function deliver(
    body: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'issues',
        'x-github-delivery': 'a-b-1',
        'x-hub-signature-256': sign(body),
        ...headers,
      },
      body,
    });
    return { status: response.status, text: await response.text() };
  }

  /** A body in chunks, without a length, until it is all sent or the other side has closed. */
  function sendChunked(megabytes: number): Promise<string> {
    const chunk = Buffer.alloc(2 ** 20, 'x');
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nx-github-event: issues\r\nx-github-delivery: 1\r\nx-hub-signature-256: sha256=1\r\n\r\n`;
    return new Promise((resolve) => {
      const socket = createConnection(port, '127.0.0.1');
      let answer = '';
      socket.on('data', (data) => (answer += data));
      socket.on('error', () => {});
      socket.on('close', () => resolve(answer));
      socket.write(head);
      const next = (left: number): void => {
        if (socket.destroyed) return;
        if (left === 0) return void socket.write('0\r\n\r\n');
        socket.write(`${chunk.length.toString(16)}\r\n`);
        socket.write(chunk);
        socket.write('\r\n', () => next(left - 1));
      };
      next(megabytes);
    });
  }

  it('that is signed is accepted, whatever its bytes', async () => {
    const payload = { action: 'opened', text: `${'ä€🚀'.repeat(100_000)}\u0000` };
    expect(await deliver(JSON.stringify(payload))).toEqual({ status: 200, text: 'ok\n' });
    expect(accepted).toEqual([{ name: 'issues', payload }]);
  });

  it('whose signature is of another body is refused', async () => {
    const answer = await deliver('{"a":1}', { 'x-hub-signature-256': sign('{"a":2}') });
    expect(answer).toEqual({
      status: 400,
      text: expect.stringMatching(/^The signature is not that of this body/),
    });
    expect(accepted).toEqual([]);
  });

  it('that announces more than 25 MB is refused before it is read', async () => {
    const body = Buffer.alloc(25 * 2 ** 20 + 1, ' ');
    const answer = await deliver(body).catch(() => undefined);
    // The connection is closed under a sender that is still sending, who may see that instead of the answer.
    expect(answer?.status ?? 413).toBe(413);
    expect(accepted).toEqual([]);
    expect(await deliver('{"a":1}')).toMatchObject({ status: 200 });
  });

  it('without a length is read up to 25 MB and not further', async () => {
    let answer = '';
    // A connection that is closed while much is still under way may be reset before its answer is read.
    for (let attempt = 0; attempt < 10 && answer === ''; attempt++) {
      bytesRead = 0;
      answer = await sendChunked(100);
    }
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*larger than the 25 MB/);
    expect(bytesRead).toBeGreaterThan(25 * 2 ** 20);
    expect(bytesRead).toBeLessThan(27 * 2 ** 20);
    expect(await sendChunked(1)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each(['__proto__', 'constructor', 'toString', 'error', '*', 'a'.repeat(101), 'x y'])(
    'of an event named %s is refused before anything is looked up by it',
    async (event) => {
      expect(await deliver('{"a":1}', { 'x-github-event': event })).toMatchObject({ status: 400 });
      expect(accepted).toEqual([]);
    },
  );

  it.each(['', 'a b', 'x'.repeat(101), 'ü'])('with the id "%s" is refused', async (id) => {
    expect(await deliver('{"a":1}', { 'x-github-delivery': id })).toMatchObject({ status: 400 });
    expect(accepted).toEqual([]);
  });

  it('of another content type is told the right one', async () => {
    expect(await deliver('{"a":1}', { 'content-type': 'text/plain' })).toEqual({
      status: 415,
      text: 'Set the content type of the webhook to application/json.\n',
    });
  });

  it('comes by POST', async () => {
    expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(405);
  });

  it('that cannot be stored is to be sent again, and why is nobody else’s business', async () => {
    fault = new Error('connect ENOENT /var/run/postgresql/.s.PGSQL.5432');
    expect(await deliver('{"a":1}')).toEqual({
      status: 503,
      text: 'The delivery was not stored; the reason is in the log of the app. Deliver it again later.\n',
    });
  });

  it.each(['null', '1', '"text"', 'true', '{"action":{"toString":1,"valueOf":1}}'])(
    'that is %s is answered in one sentence of our own',
    async (body) => {
      expect([(await deliver(body)).text]).toEqual([
        expect.stringMatching(/^(?:The delivery was not stored; [^\n]*|ok)\n$/),
      ]);
    },
  );

  it('that Probot still works at is not promised to be done', async () => {
    const receive = createWebhookReceiver(async (_, response) =>
      response.writeHead(202).end('still processing\n'),
    );
    const slow = createServer((request, response) => void receive(request, response));
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const usual = port;
    port = (slow.address() as AddressInfo).port;
    expect(await deliver('{"a":1}')).toMatchObject({ status: 503 });
    port = usual;
    slow.close();
  });
});
