import type { Server } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { closeServer, listen, type RequestHandler } from '../../../src/adapters/http/listen.ts';
import { AppError } from '../../../src/model/errors.ts';

const log = pino({ level: 'silent' });
const answerOk: RequestHandler = async (_, response) => void response.end('ok');
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function refusalOf(host: string, port: number): Promise<AppError> {
  const error = await listen({ host, port }, answerOk, log).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).code).toBe('SETTINGS_INVALID');
  return error as AppError;
}

describe('an address to listen on', () => {
  it('that another program has is named, with what to do', async () => {
    const server = await listen({ host: '127.0.0.1', port: 0 }, answerOk, log);
    const port = portOf(server);
    expect((await refusalOf('127.0.0.1', port)).message).toBe(
      `Another program listens on 127.0.0.1:${port} already: stop it, or set PORT to a free port (0 takes any).`,
    );
    await closeServer(server, 0);
  });

  it("that isn't this machine's is named", async () => {
    // A block that no machine has: RFC 5737.
    expect((await refusalOf('203.0.113.7', 0)).message).toMatch(
      /^HOST is "203\.0\.113\.7", which is no address of this machine: set it to 127\.0\.0\.1/,
    );
  });

  it('that cannot be resolved is named', async () => {
    expect((await refusalOf('no-such-host.invalid', 0)).message).toMatch(
      /^HOST is "no-such-host\.invalid", a name that cannot be resolved \(E\w+\): set it/,
    );
  });
});

describe('a server', () => {
  it('answers a fault of its handler without a word of it', async () => {
    const server = await listen(
      { host: '127.0.0.1', port: 0 },
      () => Promise.reject(new Error('secret')),
      log,
    );
    const response = await fetch(`http://127.0.0.1:${portOf(server)}/`);
    expect([response.status, await response.text()]).toEqual([500, '']);
    await closeServer(server, 0);
  });

  it('that is closed lets a request end', async () => {
    let finish = (): void => {};
    const server = await listen(
      { host: '127.0.0.1', port: 0 },
      (_, response) =>
        new Promise((resolve) => {
          finish = () => resolve(void response.end('late'));
        }),
      log,
    );
    const begun = new Promise((resolve) => server.once('request', resolve));
    const answer = fetch(`http://127.0.0.1:${portOf(server)}/`).then((response) => response.text());
    await begun;
    const closed = closeServer(server, 60);
    finish();
    expect(await answer).toBe('late');
    await closed;
  });

  it('that is closed does not wait for somebody who sent half a request', async () => {
    const server = await listen({ host: '127.0.0.1', port: 0 }, answerOk, log);
    const connected = new Promise((resolve) => server.once('connection', resolve));
    const socket = createConnection(portOf(server), '127.0.0.1');
    const cut = new Promise((resolve) => socket.once('close', resolve));
    let answer = '';
    socket.on('error', () => {}).on('data', (data) => (answer += data));
    socket.write('POST / HTTP/1.1\r\nhost: x\r\n');
    await connected;
    await closeServer(server, 0.1);
    await cut;
    // Left alone, Node.js would have answered 408 in the end.
    expect(answer).toBe('');
  });
});
