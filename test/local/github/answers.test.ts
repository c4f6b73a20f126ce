import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../../src/local/github/http-listener.ts';
import { allRoutes, plainRoutes } from '../../../src/local/github/routes.ts';
import { openGitHubSchemas } from '../../support/github-schemas.ts';
import { type Scene, startScene } from './start-scene.ts';

const repo = '/repos/octo/demo';
let scene: Scene;
let fault: Fault;

beforeAll(async () => {
  scene = await startScene({ intercept: ({ method }) => (method === 'GET' ? undefined : fault) });
});
afterAll(() => scene.stop());

describe('answers of the stand-in', () => {
  it('name what is not part of it', async () => {
    const answer = await scene.bot('GET', '/repos/octo/demo/deployments');
    expect(answer.status).toBe(404);
    expect(answer.body.message).toBe('GET /repos/octo/demo/deployments is not part of the local stand-in');
    expect(scene.watch.problems).toEqual([answer.body.message]);
  });

  it('carry rate limits and a request id', async () => {
    const { headers } = await scene.bot('GET', repo);
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(4000);
    expect(headers.get('x-github-request-id')).toMatch(/^[0-9A-F-]{36}$/);
  });

  it('are 304 while nothing changed and whole again once something did', async () => {
    const first = await scene.bot('GET', `${repo}/branches`);
    const etag = { 'if-none-match': first.headers.get('etag') ?? '' };
    expect(await scene.bot('GET', `${repo}/branches`, undefined, etag)).toMatchObject({
      status: 304,
      body: '',
    });
    const { sha } = first.body[0].commit;
    await scene.bot('POST', `${repo}/git/refs`, { ref: 'refs/heads/another', sha });
    expect((await scene.bot('GET', `${repo}/branches`, undefined, etag)).status).toBe(200);
  });

  it('are 400 for a body that is not JSON', async () => {
    const response = await fetch(`${scene.github.apiUrl}${repo}/git/refs`, { method: 'POST', body: '{' });
    expect(response.status).toBe(400);
  });

  it('can be faults that a test asks for: refused before, or lost after the request landed', async () => {
    const { sha } = (await scene.bot('GET', `${repo}/branches`)).body[0].commit;
    const create = (name: string) =>
      scene.bot('POST', `${repo}/git/refs`, { ref: `refs/heads/${name}`, sha });
    fault = {
      status: 403,
      headers: { 'retry-after': '1' },
      body: { message: 'You have exceeded a secondary rate limit' },
    };
    const refused = await create('limited');
    expect(refused.status).toBe(403);
    expect(refused.headers.get('retry-after')).toBe('1');
    fault = 'drop-after';
    expect((await create('landed')).status).toBe(502);
    fault = undefined;
    const names = (await scene.bot('GET', `${repo}/branches`)).body.map(({ name }: { name: string }) => name);
    expect(names).toContain('landed');
    expect(names).not.toContain('limited');
  });
});

describe("the stand-in's routes", () => {
  it('are all operations that GitHub publishes, under the same path', () => {
    const { operations } = openGitHubSchemas();
    const own = allRoutes
      .map(({ method, path }) => `${method} ${path}`)
      .filter((name) => name !== 'POST /graphql');
    expect(own.filter((name) => !operations.includes(name))).toEqual([]);
    expect(new Set(own).size).toBe(own.length);
  });

  it('include every route array of the folder', async () => {
    const folder = fileURLToPath(new URL('../../../src/local/github', import.meta.url));
    const files = readdirSync(folder).filter((file) => file !== 'routes.ts');
    const modules: Record<string, unknown>[] = await Promise.all(
      files.map((file) => import(join(folder, file))),
    );
    const arrays = modules.flatMap((module) =>
      Object.entries(module).filter(([name]) => name.endsWith('Routes')),
    );
    const known = new Set([...allRoutes, ...plainRoutes]);
    const missing = arrays.filter(
      ([, value]) => Array.isArray(value) && value.some((route) => !known.has(route)),
    );
    expect(arrays.length).toBeGreaterThan(5);
    expect(missing.map(([name]) => name)).toEqual([]);
  });
});
