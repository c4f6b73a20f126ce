import type { Constraints } from '../model/constraints.ts';
import type { RequestTimes } from './bench-statistics.ts';
import type { EngineClient } from './protocol-client.ts';

export type Workload = Constraints['workload'];

/** One timed trip through both tests by one engine, and what it answered. */
export interface TimedRun {
  /** Of the prompt of the first request. */
  readonly prefillSeconds: number;
  /** Of `output_tokens` greedy steps from an empty cache, as tg of llama-bench. */
  readonly decodeSeconds: number;
  readonly requests: readonly RequestTimes[];
  readonly durationSeconds: number;
  readonly answers: readonly Answer[];
}

/** What a request was given and what came back; `tokens[0]` is from the prompt, the others from decoding. */
export interface Answer {
  readonly prompt: readonly number[];
  readonly tokens: readonly number[];
  readonly logits: Float32Array;
}

/** An engine under measurement, and how long one request may take it. */
export interface Runner {
  readonly client: EngineClient;
  readonly timeoutMs: number;
}

async function timeDecode({ client, timeoutMs }: Runner, first: number, steps: number): Promise<number> {
  const { argmax } = await client.prefill(0, [first], timeoutMs);
  const { sentAt, stepTimes } = await client.decode(0, argmax, steps, timeoutMs);
  return ((stepTimes.at(-1) ?? sentAt) - sentAt) / 1000;
}

/** The steps of all requests after their first tokens: side by side where there are several. */
async function decodeTogether({ client, timeoutMs }: Runner, first: readonly number[], steps: number) {
  if (first.length > 1) return client.batchDecode(first, steps, timeoutMs);
  const alone = await client.decode(0, first[0]!, steps, timeoutMs);
  return { ...alone, argmax: alone.argmax.map((token) => [token]), logits: [alone.logits] };
}

/**
 * Runs the workload once: all requests arrive at the same moment, their prompts are read one after the other, then they
 * are decoded side by side. `prompts` has one entry per slot.
 */
async function runWorkload(runner: Runner, prompts: readonly (readonly number[])[], outputTokens: number) {
  const begun: Awaited<ReturnType<EngineClient['prefill']>>[] = [];
  for (const [slot, prompt] of prompts.entries())
    begun.push(await runner.client.prefill(slot, prompt, runner.timeoutMs));
  const start = begun[0]!.sentAt;
  const steps = outputTokens - 1;
  const first = begun.map(({ argmax }) => argmax);
  const rest = steps > 0 ? await decodeTogether(runner, first, steps) : undefined;
  const stepTimes = rest?.stepTimes ?? [];
  const requests = begun.map(({ receivedAt }, slot) => ({
    inputTokens: prompts[slot]!.length,
    tokenTimes: [receivedAt, ...stepTimes].map((time) => (time - start) / 1000),
  }));
  const answers = begun.map((prefilled, slot) => ({
    prompt: prompts[slot]!,
    tokens: [prefilled.argmax, ...(rest?.argmax ?? []).map((step) => step[slot]!)],
    logits: rest?.logits[slot] ?? prefilled.logits,
  }));
  const end = Math.max(...requests.map(({ tokenTimes }) => tokenTimes.at(-1)!));
  return { begun, requests, answers, end };
}

export async function runTimed(
  runner: Runner,
  prompts: readonly (readonly number[])[],
  workload: Workload,
): Promise<TimedRun> {
  const decodeSeconds = await timeDecode(runner, prompts[0]![0]!, workload.output_tokens);
  const { begun, requests, answers, end } = await runWorkload(runner, prompts, workload.output_tokens);
  const prefillSeconds = (begun[0]!.receivedAt - begun[0]!.sentAt) / 1000;
  return { prefillSeconds, decodeSeconds, requests, durationSeconds: end, answers };
}

/** Fills caches, starts threads and touches every weight once; its results are thrown away. */
export async function warmUp(runner: Runner, prompts: readonly (readonly number[])[]): Promise<void> {
  const short = prompts.map((prompt) => prompt.slice(0, 32));
  await runWorkload(runner, short, 5);
}

/** Largest difference between two rows of logits that float arithmetic in another order may explain. */
const logitTolerance = 1e-3;

function differs(a: Float32Array, b: Float32Array): boolean {
  return a.length !== b.length || a.some((value, i) => !(Math.abs(value - b[i]!) <= logitTolerance));
}

/**
 * Repeats one timed run without a clock and by another way: the answer's own tokens are fed as a prompt, to the end and
 * to one place in the middle, and must give the same next token and the same final logits.
 */
async function checkByPrefill(
  { client, timeoutMs }: Runner,
  answer: Answer,
  middle: number,
): Promise<string[]> {
  const complaints: string[] = [];
  for (const count of new Set([middle, answer.tokens.length - 1])) {
    const ids = [...answer.prompt, ...answer.tokens.slice(0, count)];
    const { logits, argmax } = await client.prefill(0, ids, timeoutMs);
    const token = answer.tokens[count]!;
    // A tie within the tolerance may fall either way.
    if (argmax !== token && !(logits[argmax]! - logits[token]! <= 2 * logitTolerance)) {
      complaints.push(`the timed run gave token ${token} at step ${count}, the untimed one ${argmax}`);
    }
    if (count === answer.tokens.length - 1 && differs(logits, answer.logits)) {
      complaints.push('the final logits of the timed run differ from those of the untimed one');
    }
  }
  return complaints;
}

async function checkByRepeating(runner: Runner, answers: readonly Answer[]): Promise<string[]> {
  const again = await runWorkload(
    runner,
    answers.map(({ prompt }) => prompt),
    answers[0]!.tokens.length,
  );
  return again.answers.flatMap((answer, slot) => {
    const same =
      answer.tokens.join() === answers[slot]!.tokens.join() && !differs(answer.logits, answers[slot]!.logits);
    return same ? [] : [`request ${slot}: the same prompt gave other tokens or logits when it was run again`];
  });
}

/**
 * Whether a timed run computed what it claims. Prompts are new in every run, so a stored answer cannot be right.
 * `thorough` adds the check by another way, which holds for our engines only: llama.cpp rounds differently in batches.
 */
export async function checkIntegrity(
  runner: Runner,
  answers: readonly Answer[],
  thorough: boolean,
  pick: (below: number) => number,
): Promise<string[]> {
  const complaints = await checkByRepeating(runner, answers);
  if (!thorough) return complaints;
  const answer = answers[pick(answers.length)]!;
  return [
    ...complaints,
    ...(await checkByPrefill(
      runner,
      answer,
      Math.min(1 + pick(answer.tokens.length), answer.tokens.length - 1),
    )),
  ];
}
