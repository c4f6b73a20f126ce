import type OpenAI from 'openai';
import type { LlmSettings } from '../../model/llm-settings.ts';
import { adaptDialect, createDialect, type Dialect, deliveryOf, samplingOf } from './dialect.ts';
import { createEndpointClient } from './endpoint-client.ts';
import { classifyFault } from './endpoint-faults.ts';
import { listModels, showModels } from './list-models.ts';
import { compileSchema, parseJson } from './parse-json.ts';
import type { Completion } from './read-completion.ts';
import { redactorOf } from './redact.ts';
import { settingsOf } from './request-key.ts';
import { type CompletionBody, sendCompletion } from './send-completion.ts';

/** One thing that was tried, as `metainfer doctor` shows it. */
export interface EndpointFinding {
  readonly name: string;
  readonly status: 'ok' | 'missing' | 'optional-missing';
  readonly found: string;
  /** What to do, or what happens without it. */
  readonly needed: string;
}

/** A question is this short; a model that thinks before it answers needs more than the answer. */
const longestProbe = 512;
const probeSeconds = 60;
const mostAdaptions = 8;

/** Tries what agents will need: models, a small completion, streaming, structured output. Costs a few hundred tokens. */
export async function examineEndpoint(
  settings: LlmSettings,
  apiKey: string | undefined,
  signal: AbortSignal,
): Promise<readonly EndpointFinding[]> {
  const endpoint: Endpoint = {
    ...{ settings, apiKey, signal, dialect: createDialect(settings) },
    client: createEndpointClient(settings.base_url, apiKey, probeSeconds),
  };
  const key =
    apiKey === undefined ? `no key (${settings.api_key_env} is not set)` : `key from ${settings.api_key_env}`;
  const address = { name: 'llm', status: 'ok', found: `${settings.base_url}, ${key}`, needed: '' } as const;
  const models = await examineModels(endpoint);
  const answer = await examineAnswer(endpoint);
  // Where the smallest question fails, the others tell nothing more.
  if (answer.status === 'missing') {
    const isSaidTwice = models.needed.endsWith(answer.needed);
    return isSaidTwice ? [address, answer] : [address, models, answer];
  }
  return [address, models, answer, await examineStream(endpoint), await examineSchema(endpoint)];
}

interface Endpoint {
  readonly settings: LlmSettings;
  readonly apiKey: string | undefined;
  readonly signal: AbortSignal;
  readonly dialect: Dialect;
  readonly client: OpenAI;
}

async function examineModels({ settings, apiKey }: Endpoint): Promise<EndpointFinding> {
  const listing = await listModels(settings.base_url, apiKey, 15);
  const name = 'llm models';
  if (!listing.isRead) {
    return {
      name,
      status: 'optional-missing',
      found: 'not listed',
      needed: `nothing, if a question is answered: ${listing.message}`,
    };
  }
  const wanted = [
    settings.model,
    ...Object.values(settings.roles).map((role) => role?.model ?? settings.model),
  ];
  const absent = [...new Set(wanted)].filter((model) => !listing.models.includes(model));
  const found = showModels(listing);
  if (absent.length === 0) return { name, status: 'ok', found, needed: '' };
  const needed = `${absent.join(', ')} is not in the list; name one of them with --model or in the settings`;
  return { name, status: 'optional-missing', found, needed };
}

async function examineAnswer(endpoint: Endpoint): Promise<EndpointFinding> {
  const startedAt = Date.now();
  const probe = await ask(endpoint, {});
  const { model } = settingsOf(endpoint.settings, 'implementer');
  const name = 'llm answer';
  if (probe.completion === undefined)
    return { name, status: 'missing', found: 'none', needed: probe.message };
  const { usage, isUsageDoubtful, finishReason, text } = probe.completion;
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  const uncounted = isUsageDoubtful ? 'usage reported that cannot be right' : 'no usage reported';
  const counted = usage === null ? uncounted : `${usage.promptTokens} + ${usage.completionTokens} tokens`;
  const without = [...endpoint.dialect.refused];
  const refused = without.length === 0 ? '' : `; does not accept ${without.join(', ')}`;
  const found = `${model} answers in ${seconds} s, ${counted}${refused}`;
  if (text.trim() === '' && finishReason !== 'length') {
    return {
      name,
      status: 'missing',
      found: `${model} answers with nothing (${redactorOf([endpoint.apiKey])(finishReason)})`,
      needed: 'a model that follows instructions',
    };
  }
  if (usage !== null) return { name, status: 'ok', found, needed: '' };
  return {
    name,
    status: 'optional-missing',
    found,
    needed: 'without usage each call counts as the most that it may cost',
  };
}

async function examineStream(endpoint: Endpoint): Promise<EndpointFinding> {
  let pieces = 0;
  const probe = await ask(endpoint, { stream: true }, () => {
    pieces += 1;
  });
  const name = 'llm stream';
  const needed = 'nothing: answers are then waited for in one piece, up to timeout_seconds';
  if (probe.completion === undefined)
    return { name, status: 'optional-missing', found: `does not work: ${probe.message}`, needed };
  if (!endpoint.dialect.streams) return { name, status: 'optional-missing', found: 'refused', needed };
  const usage = probe.completion.usage === null ? 'without usage' : 'with usage at the end';
  return {
    name,
    status: 'ok',
    found: `${pieces} ${pieces === 1 ? 'piece' : 'pieces'}, ${usage}`,
    needed: '',
  };
}

const schema = {
  type: 'object',
  properties: { works: { type: 'boolean' }, word: { type: 'string' } },
  required: ['works', 'word'],
  additionalProperties: false,
};

async function examineSchema(endpoint: Endpoint): Promise<EndpointFinding> {
  const format = { type: 'json_schema', json_schema: { name: 'probe', schema, strict: true } };
  const probe = await ask(endpoint, { response_format: format });
  const name = 'llm schema';
  const isForced = endpoint.settings.structured_output === 'json_schema';
  const status = isForced ? 'missing' : 'optional-missing';
  const needed = isForced
    ? 'structured_output: json_schema in the settings asks for it'
    : 'nothing: files are then asked for in fences';
  if (probe.completion === undefined)
    return { name, status, found: `does not work: ${probe.message}`, needed };
  if (!endpoint.dialect.structured) return { name, status, found: 'refused', needed };
  const reading = parseJson(probe.completion.text, compileSchema(schema));
  if (reading.isRead) return { name, status: 'ok', found: 'JSON Schema is accepted and kept', needed: '' };
  return {
    name,
    status: 'optional-missing',
    found: 'accepted, but not kept',
    needed: 'structured_output: fenced in the settings, if answers turn out unreadable',
  };
}

type Probe =
  | { readonly completion: Completion; readonly message?: undefined }
  | { readonly completion?: undefined; readonly message: string };

interface Wanted {
  readonly stream?: true;
  readonly response_format?: Readonly<Record<string, unknown>>;
}

/** One small question, without what the endpoint refuses; whatever fails is told, not thrown. */
async function ask(
  endpoint: Endpoint,
  wanted: Wanted,
  onArrival: () => void = () => undefined,
): Promise<Probe> {
  const { settings, client, signal } = endpoint;
  const limits = { longestText: 1e6, maxTokens: longestProbe * 4 };
  const patience = { timeoutSeconds: probeSeconds, stallSeconds: probeSeconds };
  for (let adaptions = 0; ; adaptions++) {
    const body = toBody(endpoint, wanted);
    try {
      return { completion: await sendCompletion(client, body, limits, patience, signal, onArrival) };
    } catch (error) {
      signal.throwIfAborted();
      const redact = redactorOf([endpoint.apiKey]);
      const fault = classifyFault(error, {
        ...{ baseUrl: settings.base_url, model: settings.model, keyVariable: settings.api_key_env },
        ...{ hasKey: endpoint.apiKey !== undefined, hasAnswered: false, redact, now: Date.now },
      });
      const hasChanged = fault.kind === 'bad-request' && adaptions < mostAdaptions && adapt(endpoint, fault);
      if (!hasChanged) return { message: redact(fault.message) };
    }
  }
}

function toBody({ settings, dialect }: Endpoint, wanted: Wanted): CompletionBody {
  const role = settingsOf(settings, 'implementer');
  const content = 'Answer with {"works": true, "word": "OK"} and nothing else.';
  return {
    ...{ model: role.model, messages: [{ role: 'user', content }], [dialect.lengthName]: longestProbe },
    ...samplingOf(role, dialect),
    ...(wanted.stream === true ? deliveryOf(dialect) : {}),
    ...(dialect.structured && wanted.response_format !== undefined
      ? { response_format: wanted.response_format }
      : {}),
  } as unknown as CompletionBody;
}

function adapt(
  { dialect }: Endpoint,
  fault: { readonly parameter: string | undefined; readonly message: string },
): boolean {
  const refusal = {
    parameter: fault.parameter,
    message: fault.message.toLowerCase(),
    longestAnswer: longestProbe,
  };
  return adaptDialect(dialect, refusal, true) !== undefined;
}
