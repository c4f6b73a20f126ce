import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { contentOf, type Question } from './question.ts';
import type { Replies, Reply } from './reply.ts';

export interface FileDropOptions {
  readonly folder: string;
  /** Default: an hour. */
  readonly timeoutSeconds?: number;
  readonly onWaiting?: (requestPath: string) => void;
}

const DroppedAnswer = z.union([
  z.strictObject({ files: z.array(z.strictObject({ path: z.string(), text: z.string() })).min(1) }),
  z.strictObject({ json: z.json() }),
  z.strictObject({ text: z.string() }),
  z.strictObject({ refusal: z.string() }),
]);

const pollMs = 100;

/**
 * Whoever watches the folder is the model: each request is a file NNNN-request.json, and NNNN-answer.json or
 * NNNN-answer.txt is awaited. A question that was asked before and not answered keeps its number, so that an answer
 * which comes after the client gave up still serves its next try.
 */
export function dropReplies({ folder, timeoutSeconds = 3600, onWaiting }: FileDropOptions): Replies {
  const numbers = new Map<string, string>();
  let writing: Promise<unknown> = Promise.resolve();
  return async (question, signal) => {
    const hash = hashOf(question);
    // One at a time: two questions must not get one number.
    const numbered = writing.then(() => numberOf(folder, question, hash, numbers));
    writing = numbered.catch(() => undefined);
    const number = await numbered;
    onWaiting?.(join(folder, `${number}-request.json`));
    return await awaitAnswer(folder, number, timeoutSeconds, signal);
  };
}

/** Of the question without the model's own words: a continuation is answered from the answer that it continues. */
function hashOf({ prompt }: Question): string {
  return createHash('sha256').update(prompt).digest('hex');
}

async function numberOf(
  folder: string,
  question: Question,
  hash: string,
  numbers: Map<string, string>,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const names = await readdir(folder);
  const known = numbers.get(hash) ?? (await findUnanswered(folder, names, hash));
  const isAnswered = known !== undefined && names.some((name) => isAnswerTo(name, known));
  if (known !== undefined && (question.written !== '' || !isAnswered)) {
    numbers.set(hash, known);
    return known;
  }
  const highest = Math.max(0, ...names.map((name) => Number(/^(\d{4,})-/.exec(name)?.[1] ?? 0)));
  const number = String(highest + 1).padStart(4, '0');
  await writeRequest(join(folder, `${number}-request.json`), number, question, hash);
  numbers.set(hash, number);
  return number;
}

/** A request of an earlier server over the same folder that nobody has answered. */
async function findUnanswered(
  folder: string,
  names: readonly string[],
  hash: string,
): Promise<string | undefined> {
  for (const name of names.filter((entry) => entry.endsWith('-request.json')).sort()) {
    const number = name.replace('-request.json', '');
    const request = JSON.parse(await readFile(join(folder, name), 'utf8')) as { sha256?: string };
    if (request.sha256 === hash && !names.some((entry) => isAnswerTo(entry, number))) return number;
  }
  return undefined;
}

function isAnswerTo(name: string, number: string): boolean {
  return name === `${number}-answer.json` || name === `${number}-answer.txt`;
}

async function writeRequest(path: string, number: string, question: Question, sha256: string): Promise<void> {
  const { role, contract, attempt, schema, messages } = question;
  const request = {
    number,
    ...{ role, contract, attempt },
    answer: [`${number}-answer.json`, `${number}-answer.txt`],
    schema: schema ?? null,
    messages: messages.map((message) => ({ role: message.role, content: contentOf(message) })),
    sha256,
  };
  await writeFile(`${path}.part`, `${JSON.stringify(request, null, 2)}\n`);
  await rename(`${path}.part`, path);
}

async function awaitAnswer(
  folder: string,
  number: string,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<Reply> {
  const end = Date.now() + timeoutSeconds * 1000;
  while (Date.now() < end) {
    signal.throwIfAborted();
    const reply = await readAnswer(folder, number);
    if (reply !== undefined) return reply;
    await pause(pollMs);
  }
  throw new Error(`nobody answered ${number}-request.json within ${timeoutSeconds} s`);
}

async function readAnswer(folder: string, number: string): Promise<Reply | undefined> {
  const text = await readSettled(join(folder, `${number}-answer.txt`));
  if (text !== undefined) return { kind: 'text', text };
  const json = await readSettled(join(folder, `${number}-answer.json`));
  if (json === undefined) return undefined;
  const complaint = join(folder, `${number}-complaint.txt`);
  const parsed = DroppedAnswer.safeParse(parseJson(json));
  if (!parsed.success) {
    await writeFile(complaint, `${number}-answer.json can't be used; correct it.\n${parsed.error.message}\n`);
    return undefined;
  }
  await rm(complaint, { force: true });
  return toReply(parsed.data);
}

function toReply(answer: z.infer<typeof DroppedAnswer>): Reply {
  if ('files' in answer) return { kind: 'files', files: answer.files };
  if ('text' in answer) return { kind: 'text', text: answer.text };
  if ('refusal' in answer) return { kind: 'refusal', text: answer.refusal };
  return { kind: 'json', value: answer.json };
}

/** The file's text once it no longer grows; undefined before. */
async function readSettled(path: string): Promise<string | undefined> {
  try {
    const before = await stat(path);
    const text = await readFile(path, 'utf8');
    const isYoung = Date.now() - before.mtimeMs < 2 * pollMs;
    return isYoung || Buffer.byteLength(text) !== before.size ? undefined : text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
