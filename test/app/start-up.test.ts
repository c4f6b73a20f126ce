import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp } from '../../src/app.ts';
import { type BotWorld, log, startBotWorld } from '../support/bot-world.ts';

describe('an app that does not start', () => {
  let world: BotWorld;
  let file: string;

  beforeAll(async () => {
    world = await startBotWorld();
    file = join(world.folder, 'file');
    writeFileSync(file, '');
  });
  afterAll(() => world.stop());

  /** Takes the app's port as another program would. */
  function takePort(): Promise<Server> {
    const server = createServer();
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(world.settings.port, '127.0.0.1', () => resolve(server));
    });
  }

  it('because its port is taken says so', async () => {
    const other = await takePort();
    await expect(startApp(world.settings, log)).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
      message: expect.stringContaining(`127.0.0.1:${world.settings.port} already`),
    });
    await new Promise((resolve) => other.close(resolve));
  });

  it.each([
    ['the cache folder is a file', () => ({ cacheFolder: file }), 'SETTINGS_INVALID', 'METAINFER_CACHE'],
    [
      'the cache folder is below a file',
      () => ({ cacheFolder: join(file, 'below') }),
      'SETTINGS_INVALID',
      'METAINFER_CACHE',
    ],
    [
      'the data folder is a file',
      () => ({ database: { ...world.settings.database, folder: file } as never }),
      'DATABASE_UNAVAILABLE',
      'METAINFER_DATA',
    ],
    [
      'there is no PostgreSQL',
      () => ({ database: { kind: 'postgres', url: 'postgres://127.0.0.1:1/x' } as const }),
      'DATABASE_UNAVAILABLE',
      'DATABASE_URL',
    ],
  ])('because %s says so and gives its port back', async (_, over, code, setting) => {
    await expect(startApp({ ...world.settings, ...over() }, log)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(setting),
    });
    const server = await takePort();
    await new Promise((resolve) => server.close(resolve));
  });

  it('because a later step fails gives its data folder back', async () => {
    // What Probot refuses comes after the database is open.
    await expect(startApp({ ...world.settings, appId: 0 }, log)).rejects.toThrow('appId');
    const app = await startApp(world.settings, log);
    await app.stop(0);
  });
});
