// Writes test/fixtures/github-openapi.json: the answers of the operations that the local GitHub serves, as GitHub
// publishes them in @octokit/openapi. That package is too large to depend on; it is fetched into a temporary folder.
//   npx tsx test/support/trim-openapi.ts
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { toJsonSchema } from './openapi-to-json-schema.ts';

const run = promisify(execFile);
const version = '23.0.2';
const root = fileURLToPath(new URL('../..', import.meta.url));
const routeFolder = join(root, 'src/local/github');
const target = join(root, 'test/fixtures/github-openapi.json');

type Node = Readonly<Record<string, unknown>>;

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Node }>>>>;
  readonly components: Readonly<Record<string, Node>>;
}

async function fetchOpenApi(): Promise<OpenApi> {
  const folder = await mkdtemp(join(tmpdir(), 'metainfer-openapi-'));
  try {
    const source = `@octokit/openapi@${version}`;
    await run('npm', ['pack', source, '--silent', '--pack-destination', folder], { cwd: folder });
    const [archive] = await readdir(folder);
    const member = 'package/generated/api.github.com.json';
    await run('tar', ['-xzf', join(folder, archive!), '-C', folder, member]);
    return JSON.parse(await readFile(join(folder, member), 'utf8')) as OpenApi;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** "GET /repos/…" of every route array in src/local/github. */
async function servedOperations(): Promise<readonly string[]> {
  const operations = new Set<string>();
  for (const file of await readdir(routeFolder)) {
    const text = await readFile(join(routeFolder, file), 'utf8');
    if (!/^export const \w+Routes\b/m.test(text)) continue;
    const module = (await import(join(routeFolder, file))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(module)) {
      if (!name.endsWith('Routes') || !Array.isArray(value)) continue;
      for (const { method, path } of value) operations.add(`${method} ${path}`);
    }
  }
  return [...operations].sort();
}

function resolve(api: OpenApi, node: Node): Node {
  if (typeof node.$ref !== 'string') return node;
  const found = node.$ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Node)[key], api);
  return found as Node;
}

/** Schema of each documented status; null where the answer has no JSON body. */
function responsesOf(api: OpenApi, operation: string): Record<string, unknown> | undefined {
  const [method = '', path = ''] = operation.split(' ');
  const responses = api.paths[path]?.[method.toLowerCase()]?.responses;
  if (responses === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const content = resolve(api, response as Node).content as Readonly<Record<string, Node>> | undefined;
      const json = Object.entries(content ?? {}).find(([type]) => /^application\/(.*\+)?json/.test(type));
      return [status, json?.[1].schema ?? null];
    }),
  );
}

/** Every schema that is named by one of the nodes, and by those in turn. */
function collectSchemas(api: OpenApi, nodes: unknown): Record<string, unknown> {
  const schemas: Record<string, unknown> = {};
  const open: unknown[] = [nodes];
  while (open.length > 0) {
    const text = JSON.stringify(open.pop());
    for (const [, name = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      if (name in schemas) continue;
      schemas[name] = toJsonSchema(api.components.schemas![name]);
      open.push(schemas[name]);
    }
  }
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const api = await fetchOpenApi();
const served = await servedOperations();
const operations: Record<string, unknown> = {};
for (const operation of served) {
  const responses = responsesOf(api, operation);
  if (responses !== undefined) operations[operation] = toJsonSchema(responses);
}
/** One entry a line, so that a change of GitHub's shows as one. */
function linesOf(entries: Readonly<Record<string, unknown>>): string {
  return Object.entries(entries)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join(',\n');
}

const basicError = { $ref: '#/components/schemas/basic-error' };
const head = {
  source: `@octokit/openapi ${version}, generated/api.github.com.json`,
  licence: 'MIT, Copyright (c) 2020 Octokit contributors',
};
const schemas = collectSchemas(api, [operations, basicError]);
await writeFile(
  target,
  `{${linesOf(head)},\n"operations":{\n${linesOf(operations)}\n},\n"components":{"schemas":{\n${linesOf(schemas)}\n}}}\n`,
);
const unknown = served.filter((operation) => !(operation in operations));
process.stdout.write(
  `${Object.keys(operations).length} operations; GitHub documents none of: ${unknown.join(', ')}\n`,
);
