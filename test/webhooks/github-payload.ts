import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

type Schema = Readonly<Record<string, unknown>>;
type Payload = Record<string, unknown>;

const path = createRequire(import.meta.url).resolve(
  '@octokit/openapi-webhooks/generated/api.github.com.json',
);
const published = JSON.parse(readFileSync(path, 'utf8')) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/**
 * A payload with every field that GitHub's published schema requires of this event, and `fields` in their places:
 * what a test says nothing about is there and of the right type, as in a real delivery.
 */
export function githubPayload(event: string, action: string, fields: object): Payload {
  const name = `webhook-${event}-${action}`.replaceAll('_', '-');
  const schema = published.components.schemas[name];
  if (schema === undefined) throw new Error(`GitHub publishes no schema ${name}`);
  return put(sample(schema), { action, ...fields }) as Payload;
}

function sample(written: Schema): unknown {
  const schema = resolve(written);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const choices = (schema.oneOf ?? schema.anyOf) as readonly Schema[] | undefined;
  if (choices !== undefined && schema.properties === undefined) return sample(choices[0]!);
  if (Array.isArray(schema.allOf)) {
    return schema.allOf.reduce((made: unknown, part: Schema) => put(made, sample(part)), {});
  }
  return sampleOfType(schema);
}

function resolve(schema: Schema): Schema {
  if (typeof schema.$ref !== 'string') return schema;
  return resolve(published.components.schemas[schema.$ref.replace('#/components/schemas/', '')]!);
}

function sampleOfType(schema: Schema): unknown {
  const types = [schema.type].flat();
  if (types.includes('null')) return null;
  if (types.includes('array')) return [];
  if (types.includes('boolean')) return false;
  if (types.includes('integer') || types.includes('number')) return 1;
  if (types.includes('string')) return sampleOfFormat(schema.format);
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
  const required = (schema.required ?? []) as readonly string[];
  return Object.fromEntries(required.map((name) => [name, sample(properties[name] ?? {})]));
}

function sampleOfFormat(format: unknown): string {
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  if (format === 'uri' || format === 'uri-template') return 'https://api.github.com/x';
  return format === 'email' ? 'x@example.org' : 'x';
}

function put(base: unknown, over: unknown): unknown {
  if (!isObject(base) || !isObject(over)) return over;
  const merged: Payload = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = put(base[key], value);
  return merged;
}

function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const person = githubUser(1001, 'ada', 'User');
export const bot = githubUser(1002, 'metainfer-bot[bot]', 'Bot');

/** An account with every field of GitHub's. */
export function githubUser(id: number, login: string, type: 'User' | 'Bot' | 'Organization'): Payload {
  return put(sample(published.components.schemas['simple-user']!), {
    id,
    login,
    type,
    gravatar_id: '',
  }) as Payload;
}

/** The repository `acme/engines` and the installation in it. */
export const place = {
  repository: {
    id: 77,
    name: 'engines',
    full_name: 'acme/engines',
    private: false,
    default_branch: 'trunk',
    owner: githubUser(9, 'acme', 'Organization'),
  },
  installation: { id: 5, node_id: 'x' },
};

/** `place` as an intent names it. */
export const repositoryRef = {
  id: 77,
  owner: 'acme',
  name: 'engines',
  isPrivate: false,
  defaultBranch: 'trunk',
  installationId: 5,
};
