import type { Question } from './question.ts';

/** What the model says, before it is put into the form that the request asks for. */
export type Reply =
  | { readonly kind: 'files'; readonly files: readonly ReplyFile[] }
  | { readonly kind: 'json'; readonly value: unknown }
  /** Sent as it stands. */
  | { readonly kind: 'text'; readonly text: string }
  /** The model declines, in the field that the protocol has for it. */
  | { readonly kind: 'refusal'; readonly text: string };

export interface ReplyFile {
  readonly path: string;
  readonly text: string;
}

/** The signal is aborted as soon as the client has gone. */
export type Replies = (question: Question, signal: AbortSignal) => Reply | Promise<Reply>;

/** The text of a reply in the form that was asked for: JSON under a schema, else fenced files. */
export function renderReply(reply: Reply, question: Question): string {
  switch (reply.kind) {
    case 'files':
      return question.isJson
        ? JSON.stringify({ files: reply.files })
        : reply.files.map(renderFence).join('\n\n');
    case 'json':
      return question.isJson
        ? JSON.stringify(reply.value)
        : `\`\`\`json\n${JSON.stringify(reply.value, null, 1)}\n\`\`\``;
    case 'text':
    case 'refusal':
      return reply.text;
  }
}

function renderFence(file: ReplyFile): string {
  const end = file.text.endsWith('\n') ? '' : '\n';
  return `\`\`\`cpp path=${file.path}\n${file.text}${end}\`\`\``;
}

/** The smallest value that fits a schema: the answer to a question that is no agent's. */
export function smallestValue(schema: unknown): unknown {
  const node = (typeof schema === 'object' && schema !== null ? schema : {}) as Record<string, unknown>;
  if ('const' in node) return node.const;
  if (Array.isArray(node.enum)) return node.enum[0];
  if (Array.isArray(node.anyOf)) return smallestValue(node.anyOf[0]);
  switch (Array.isArray(node.type) ? node.type[0] : node.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(node.properties ?? {}).map(([key, part]) => [key, smallestValue(part)]),
      );
    case 'array':
      return Array.from({ length: Number(node.minItems ?? 0) }, () => smallestValue(node.items));
    case 'string':
      return 'ok';
    case 'integer':
    case 'number':
      return Number(node.minimum ?? 0);
    case 'boolean':
      return true;
    default:
      return null;
  }
}
