import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterEach } from 'vitest';
import { createFileLedger } from '../../../src/adapters/llm/file-ledger.ts';
import {
  type LanguageModelOptions,
  openLanguageModel,
} from '../../../src/adapters/llm/open-language-model.ts';
import type { CompletionLedger } from '../../../src/model/completion-ledger.ts';
import type { LanguageModel, ModelRequest } from '../../../src/model/language-model.ts';
import { LlmSettings } from '../../../src/model/llm-settings.ts';
import type { SpendingLimits } from '../../../src/model/spending.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/model-server.ts';
import type { Replies } from '../../support/model-server/reply.ts';
import type { ModelServerOptions } from '../../support/model-server/server-options.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

export const code = `// SPDX-License-Identifier: MIT\n${Array.from({ length: 40 }, (_, line) => `int value_${line} = ${line * 7919};`).join('\n')}\n`;
export const replyCode: Replies = () => ({ kind: 'files', files: [{ path: 'norm_rms.cpp', text: code }] });

export const freeOfLimits: SpendingLimits = {
  softTokens: 1e9,
  hardTokens: 1e9,
  softUsd: null,
  hardUsd: null,
};

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'llm-'));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface OpenedModel {
  readonly model: LanguageModel;
  readonly ledger: CompletionLedger;
  /** Milliseconds that it waited for instead of waiting. */
  readonly waits: number[];
  readonly notes: string[];
}

/** The real adapter; it waits for nothing but the endpoint. */
export function openModel(
  settings: Readonly<Record<string, unknown>>,
  options: Partial<LanguageModelOptions> = {},
): OpenedModel {
  const waits: number[] = [];
  const notes: string[] = [];
  const ledger = options.ledger ?? createFileLedger(join(temporaryFolder(), 'calls'));
  const model = openLanguageModel(LlmSettings.parse(settings), {
    ...{ apiKey: 'sk-secret-key-of-the-test', limits: freeOfLimits },
    wait: async (milliseconds, signal) => {
      waits.push(milliseconds);
      signal.throwIfAborted();
    },
    onNote: (note) => notes.push(note),
    ...options,
    ledger,
  });
  return { model, ledger, waits, notes };
}

/** The scripted endpoint and the adapter in front of it. */
export async function openDouble(
  server: Partial<ModelServerOptions>,
  settings: Readonly<Record<string, unknown>> = {},
  options: Partial<LanguageModelOptions> = {},
): Promise<
  OpenedModel & { readonly server: ModelServer; readonly settings: Readonly<Record<string, unknown>> }
> {
  const started = await startModelServer({ replies: replyCode, ...server });
  closers.push(() => started.close());
  const all = { base_url: started.baseUrl, model: started.model, ...settings };
  return { ...openModel(all, options), server: started, settings: all };
}

export type Handler = (
  body: Record<string, unknown>,
  response: ServerResponse,
  request: IncomingMessage,
) => void;

/** An endpoint that does what the test says, byte by byte. @returns its base URL and the bodies it got */
export async function openOddEndpoint(
  handler: Handler,
): Promise<{ readonly baseUrl: string; readonly bodies: Record<string, unknown>[] }> {
  const bodies: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    const text = await readText(request);
    const body = text === '' ? {} : JSON.parse(text);
    bodies.push(body);
    handler(body, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies };
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

export function sendEvents(response: ServerResponse, events: readonly unknown[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end('data: [DONE]\n\n');
}

export const fenced = `\`\`\`cpp path=norm_rms.cpp\n${code}\`\`\``;

export function completionOf(content: string | null, extra: Readonly<Record<string, unknown>> = {}): unknown {
  return {
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 400, completion_tokens: 100 },
    ...extra,
  };
}

export function question(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    ...{ role: 'implementer', contract: 'norm.rms', phase: 'operations', attempt: 1 },
    system: 'role: implementer\nYou write one file of an engine.',
    sections: [
      {
        title: 'Contract',
        text: `contract: norm.rms\n${'Scale each row by its root mean square.\n'.repeat(20)}`,
        priority: 0,
      },
      { title: 'Platform', text: 'AVX2, 8 floats in a register.\n'.repeat(20), priority: 1 },
      { title: 'Failure modes', text: 'Forgetting epsilon.\n'.repeat(20), priority: 3 },
    ],
    expects: { kind: 'files', paths: ['norm_rms.cpp'], maxBytes: 64 * 1024 },
    ...changes,
  };
}

export const never = new AbortController().signal;
