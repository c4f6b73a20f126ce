import { type AgentRole, agentRoles } from '../../../src/model/language-model.ts';
import type { CompletionBody } from './completion-body.ts';

/** One request for a completion, as far as an answer depends on it. */
export interface Question {
  /** Of all requests for completions to this server, from 1. */
  readonly number: number;
  /** Null where the prompt carries no marker: a probe of the endpoint. */
  readonly role: AgentRole | null;
  readonly contract: string | null;
  /** Answers that this role got in full for this contract, this one included. */
  readonly attempt: number;
  readonly model: string;
  readonly messages: CompletionBody['messages'];
  /** What the program wrote: everything but answers of the model and requests to continue. */
  readonly prompt: string;
  /** What the model has written of this answer before it was cut off; empty in a new question. */
  readonly written: string;
  /** Whether the answer is JSON, else files stand in fences. What was cut off goes on as it began. */
  readonly isJson: boolean;
  /** JSON schema of the answer, where the request has one. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
}

export function readQuestion(
  body: CompletionBody,
  number: number,
  countDelivered: (role: string | null, contract: string | null) => number,
): Question {
  const firstAnswer = body.messages.findIndex((message) => message.role === 'assistant');
  const isContinuation = firstAnswer !== -1;
  const asked = isContinuation ? body.messages.slice(0, firstAnswer) : body.messages;
  const prompt = asked.map(contentOf).join('\n\n');
  const written = body.messages
    .filter((message) => message.role === 'assistant')
    .map(contentOf)
    .join('');
  const role = agentRoles.find((known) => prompt.startsWith(`role: ${known}\n`)) ?? null;
  const contract = /^contract: (\S+)$/m.exec(prompt)?.[1] ?? null;
  const delivered = countDelivered(role, contract);
  const format = body.response_format;
  return {
    ...{ number, role, contract, prompt, written },
    attempt: isContinuation ? Math.max(delivered, 1) : delivered + 1,
    model: body.model,
    messages: body.messages,
    isJson: isContinuation ? /^\s*[{[]/.test(written) : format?.type === 'json_schema',
    schema: format?.type === 'json_schema' ? format.json_schema.schema : undefined,
  };
}

export function contentOf(message: CompletionBody['messages'][number]): string {
  const { content } = message;
  if (content === null || content === undefined) return '';
  return typeof content === 'string' ? content : content.map((part) => part.text).join('');
}
