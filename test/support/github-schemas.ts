import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { closeObjects } from './close-objects.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Published {
  readonly operations: Readonly<Record<string, Readonly<Record<string, Schema | null>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface GitHubSchemas {
  /** "GET /repos/{owner}/{repo}" of every operation that can be checked. */
  readonly operations: readonly string[];
  /** Problems of an answer against GitHub's published schema; none where it is as GitHub says. */
  checkResponse(method: string, route: string, status: number, body: unknown): readonly string[];
  /** The same for the payload of a webhook. */
  checkWebhook(event: string, action: string | null, payload: unknown): readonly string[];
}

const maxProblems = 5;
/** GitHub's schema of the app inside a comment lists the events of an earlier time; apps subscribe to newer ones too. */
const listsNewerEvent = /\/performed_via_github_app\/events\/\d+ must be equal to one of the allowed values/;
let opened: GitHubSchemas | undefined;

/** GitHub's published schemas: answers from the trimmed copy, webhooks from @octokit/openapi-webhooks. */
export function openGitHubSchemas(): GitHubSchemas {
  opened ??= open();
  return opened;
}

function open(): GitHubSchemas {
  const fixture = new URL('../fixtures/github-openapi.json', import.meta.url);
  const responses = closeObjects(JSON.parse(readFileSync(fixture, 'utf8'))) as Published;
  allowOverlap(responses);
  const path = createRequire(import.meta.url).resolve(
    '@octokit/openapi-webhooks/generated/api.github.com.json',
  );
  const webhooks = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly webhooks: Readonly<Record<string, unknown>>;
  };
  // Compiled in a fraction of the time when nothing is inlined or optimized; each schema is used a few times only.
  const speed = { inlineRefs: false, code: { optimize: false } };
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true, logger: false, ...speed });
  addFormats.default(ajv);
  // Addresses of bots hold brackets.
  ajv.addFormat('email', /^[^\s@]+@[^\s@]+$/);
  ajv.addSchema(responses, 'rest').addSchema(webhooks, 'webhooks');
  const compiled = new Map<string, ValidateFunction>();
  const problemsOf = (reference: string, value: unknown): readonly string[] => {
    const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
    compiled.set(reference, validate);
    if (validate(value)) return [];
    const messages = (validate.errors ?? []).map(({ instancePath, message, params }) =>
      `${instancePath || '/'} ${message ?? ''} ${'additionalProperty' in params ? params.additionalProperty : ''}`.trim(),
    );
    return [...new Set(messages)].slice(0, maxProblems);
  };
  return {
    operations: Object.keys(responses.operations),
    checkResponse: (method, route, status, body) =>
      checkResponse(responses, problemsOf, { operation: `${method} ${route}`, status, body }),
    checkWebhook(event, action, payload) {
      const name = [event, ...(action === null ? [] : [action])].join('-').replaceAll('_', '-');
      if (!(name in webhooks.webhooks)) return [`GitHub knows no webhook ${name}`];
      const pointer = `/webhooks/${name}/post/requestBody/content/application~1json/schema`;
      return problemsOf(`webhooks#${pointer}`, payload)
        .filter((problem) => !listsNewerEvent.test(problem))
        .map((problem) => `webhook ${name}: ${problem}`);
    },
  };
}

function checkResponse(
  published: Published,
  problemsOf: (reference: string, value: unknown) => readonly string[],
  {
    operation,
    status,
    body,
  }: { readonly operation: string; readonly status: number; readonly body: unknown },
): readonly string[] {
  const statuses = published.operations[operation];
  const where = `${operation} ${status}`;
  if (statuses === undefined) {
    return [`${where}: not in test/fixtures/github-openapi.json; run npx tsx test/support/trim-openapi.ts`];
  }
  const schema = statuses[String(status)];
  if (schema === undefined && status < 400) return [`${where}: GitHub documents no such status`];
  if (schema === null && (status < 400 || body === undefined)) {
    return body === undefined ? [] : [`${where}: GitHub sends no body`];
  }
  // Errors that an operation leaves undocumented, or documents without a body, have the common shape.
  const reference =
    schema === undefined || schema === null
      ? 'rest#/components/schemas/basic-error'
      : `rest#/operations/${pointerPart(operation)}/${status}`;
  const shown = status < 400 ? body : withoutStatus(body);
  return problemsOf(reference, shown).map((problem) => `${where}: ${problem}`);
}

/** Every error of GitHub carries its status as text; few of the schemas name it. */
function withoutStatus(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const { status, ...rest } = body as Schema;
  return rest;
}

/** Alternatives of an error overlap: every rule violation is a basic error too. */
function allowOverlap(published: Published): void {
  for (const statuses of Object.values(published.operations)) {
    for (const [status, schema] of Object.entries(statuses)) {
      if (Number(status) < 400 || schema === null || !('oneOf' in schema)) continue;
      (statuses as Record<string, Schema>)[status] = { anyOf: schema.oneOf };
    }
  }
}

/** As a part of a JSON pointer in a URI fragment. */
function pointerPart(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
}
