import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { createFileLedger } from '../../../src/adapters/llm/file-ledger.ts';
import {
  type Handler,
  never,
  openModel,
  openOddEndpoint,
  question,
  sendEvents,
  sendJson,
  temporaryFolder,
} from './open-endpoint.ts';

export const secret = 'sk-secret-key-of-the-test';
export const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

export const whole =
  (value: unknown): Handler =>
  (_, response) =>
    sendJson(response, 200, value);
export const stream =
  (...events: readonly unknown[]): Handler =>
  (_, response) =>
    sendEvents(response, events);
export const choice = (message: unknown, finish_reason: unknown = 'stop') => ({
  choices: [{ message, finish_reason }],
});

/** Asks with a record on disk, reads it as a later process would, and holds everything visible against key and escapes. */
export async function meet(
  handler: Handler,
  settings: Readonly<Record<string, unknown>> = {},
  request = question(),
) {
  const folder = temporaryFolder();
  const { baseUrl, bodies } = await openOddEndpoint(handler);
  const ledger = createFileLedger(folder);
  const opened = openModel({ base_url: baseUrl, model: 'm', ...settings }, { ledger });
  const answer = await opened.model.ask(request, never).catch((error: Error) => error);
  const calls = await createFileLedger(folder).list();
  expect(calls.every(({ finished }) => finished !== null)).toBe(true);
  const message = 'message' in answer ? answer.message : '';
  const told = [...opened.notes, message, ...calls.map(({ finished }) => finished!.failure ?? '')].join('\n');
  expect(told).not.toMatch(steering);
  expect(Math.max(0, ...told.split('\n').map(({ length }) => length))).toBeLessThan(900);
  const files = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
  expect(`${told}${JSON.stringify(answer)}${files.join()}`).not.toContain(secret);
  return { answer, calls, bodies, ...opened };
}
