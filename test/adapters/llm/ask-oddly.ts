import {
  fenced,
  type Handler,
  never,
  openModel,
  openOddEndpoint,
  question,
  sendEvents,
  sendJson,
} from './open-endpoint.ts';

export const done = [
  { choices: [{ delta: { content: fenced } }] },
  { choices: [{ delta: {}, finish_reason: 'stop' }] },
];

/** Does each thing once, then answers. */
export function inTurn(...handlers: readonly Handler[]): Handler {
  let calls = 0;
  return (body, response, request) => {
    const handler = handlers[calls++] ?? ((_, last) => sendEvents(last, done));
    handler(body, response, request);
  };
}

/** One question to an odd endpoint, and everything around it. */
export async function askOddly(
  handler: Handler,
  settings: Readonly<Record<string, unknown>> = {},
  request = question(),
) {
  const { baseUrl, bodies } = await openOddEndpoint(handler);
  const opened = openModel({ base_url: baseUrl, model: 'm', ...settings });
  const answer = await opened.model.ask(request, never).catch((error: Error) => error);
  return { answer, bodies, baseUrl, ...opened };
}

export const status =
  (code: number, body: unknown): Handler =>
  (_, response) =>
    sendJson(response, code, body);
