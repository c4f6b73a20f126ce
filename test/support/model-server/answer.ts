import type { CompletionBody } from './completion-body.ts';
import { type AnswerFault, type Fault, isAnswerFault } from './faults.ts';
import { contentOf, type Question } from './question.ts';
import { type Replies, type Reply, type ReplyFile, renderReply } from './reply.ts';

/** What goes out, apart from how. */
export interface Answer {
  readonly text: string;
  readonly refusal: string | null;
  readonly finishReason: 'stop' | 'length' | 'content_filter';
}

/** A token is four bytes of UTF-8: coarse, and the same for everybody who counts. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

export function countPrompt({ messages }: CompletionBody): number {
  return messages.reduce((sum, message) => sum + countTokens(contentOf(message)), 0);
}

export async function makeAnswer(
  question: Question,
  replies: Replies,
  fault: Fault | undefined,
  maxTokens: number,
  signal: AbortSignal,
): Promise<Answer> {
  const shaping = fault !== undefined && isAnswerFault(fault.name) ? fault.name : undefined;
  const reply = shapeReply(await replies(question, signal), shaping);
  const rendered = withProse(renderReply(reply, question), shaping);
  const text = remainder(rendered, question.written);
  if (reply.kind === 'refusal') return { text: '', refusal: reply.text, finishReason: 'stop' };
  if (shaping === 'empty') return { text: '', refusal: null, finishReason: 'stop' };
  if (shaping === 'content-filter')
    return { text: text.slice(0, 20), refusal: null, finishReason: 'content_filter' };
  if (shaping === 'absurd-length') return { text: absurd(text), refusal: null, finishReason: 'stop' };
  const room = shaping === 'truncated' ? (fault?.afterCharacters ?? Math.ceil(text.length / 2)) : text.length;
  const whole = withinTokens(text.slice(0, room), maxTokens);
  return { text: whole, refusal: null, finishReason: whole.length < text.length ? 'length' : 'stop' };
}

function shapeReply(reply: Reply, fault: AnswerFault | undefined): Reply {
  if (fault === 'refusal') return { kind: 'refusal', text: "I'm sorry, but I can't help with that." };
  if (fault === 'prose-only')
    return { kind: 'text', text: 'The function should sum the squares first. Shall I write it out?' };
  if (reply.kind !== 'files') return reply;
  if (fault === 'wrong-path') return { kind: 'files', files: reply.files.map(elsewhere) };
  if (fault === 'several-versions')
    return { kind: 'files', files: reply.files.flatMap((file) => [file, withNote(file)]) };
  return reply;
}

function elsewhere(file: ReplyFile): ReplyFile {
  return { ...file, path: `../src/${file.path}` };
}

function withNote(file: ReplyFile): ReplyFile {
  return { ...file, text: `${file.text}// A second version, faster on some machines.\n` };
}

function withProse(text: string, fault: AnswerFault | undefined): string {
  if (fault !== 'prose-around') return text;
  return `Sure! Here is the file that you asked for:\n\n${text}\n\nIt handles every case. Let me know if anything is unclear.`;
}

/** Four mebibytes: more than any file of an engine, whatever the token limit says. */
function absurd(text: string): string {
  const line = '// and once more, to be on the safe side\n';
  return text + line.repeat(Math.ceil(2 ** 22 / line.length));
}

/** What is still to be said of a text after what was said. */
function remainder(text: string, written: string): string {
  if (text.startsWith(written)) return text.slice(written.length);
  const trimmed = written.trimEnd();
  return text.startsWith(trimmed) ? text.slice(trimmed.length) : text;
}

function withinTokens(text: string, maxTokens: number): string {
  if (countTokens(text) <= maxTokens) return text;
  const bytes = Buffer.from(text).subarray(0, maxTokens * 4);
  // A character cut in two is dropped, as a tokenizer's decoder would hold it back.
  return bytes.toString('utf8').replace(/\uFFFD+$/, '');
}
