import OpenAI from 'openai';
import { fetchOverHttp } from './http-fetch.ts';

/** Longer error bodies tell nothing more. */
const longestErrorBody = 64 * 1024;

/** The client of one endpoint. It retries nothing, logs nothing and takes nothing from the environment. */
export function createEndpointClient(
  baseUrl: string,
  apiKey: string | undefined,
  timeoutSeconds: number,
): OpenAI {
  return new OpenAI({
    baseURL: baseUrl,
    apiKey: apiKey ?? 'none',
    // Local servers need no key; some refuse a wrong one.
    defaultHeaders: apiKey === undefined ? { Authorization: null } : {},
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    // Ours ends the request first, with a better message.
    timeout: (timeoutSeconds + 60) * 1000,
    logLevel: 'off',
    fetch: fetchWithPlainErrors,
  });
}

/** Errors in the form that the client reads, `{"error": {"message": …}}`; servers have several others. */
async function fetchWithPlainErrors(target: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetchOverHttp(target, init);
  if (response.ok) return response;
  const text = (await response.text()).slice(0, longestErrorBody);
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  headers.set('content-type', 'application/json');
  return new Response(JSON.stringify({ error: readErrorBody(text) }), { status: response.status, headers });
}

/** Of `{error: {…}}`, `{error: "…"}` (Ollama), `{message: "…"}` (vLLM), `{detail: […]}` (FastAPI), or of a page. */
export function readErrorBody(text: string): Readonly<Record<string, unknown>> {
  const body = parseObject(text);
  if (body === undefined) return { message: textOfPage(text), type: 'not_json' };
  const { error, detail, message } = body;
  if (typeof error === 'object' && error !== null) return error as Record<string, unknown>;
  if (typeof error === 'string') return { ...body, message: error };
  if (typeof message === 'string') return body;
  return readComplaints(detail ?? message) ?? { message: JSON.stringify(detail ?? body) };
}

/** `[{loc: ['body', 'seed'], msg: '…', input: …}]`: the input, which may be the whole prompt, is left out. */
function readComplaints(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!Array.isArray(value)) return undefined;
  const complaints = value.flatMap((entry: { loc?: unknown; msg?: unknown } | null) =>
    typeof entry?.msg === 'string'
      ? [{ loc: Array.isArray(entry.loc) ? entry.loc.map(String) : [], msg: entry.msg }]
      : [],
  );
  if (complaints.length === 0) return undefined;
  const param = complaints[0]!.loc.find((part) => part !== 'body');
  return { message: complaints.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '), param };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function textOfPage(text: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1];
  return (title ?? text.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ').trim().slice(0, 300);
}
