import type { Finding } from '../../model/report.ts';
import { type EngineSession, type GateContext, makeFinding } from '../gate-context.ts';
import { argmax } from '../measures.ts';
import type { Generated, GenerateRequest } from '../protocol-client.ts';
import type { Random } from '../random.ts';
import { isInNucleus, penalise, ranked } from './sampling-rules.ts';

interface Generation {
  readonly context: GateContext;
  readonly session: EngineSession;
  readonly prompt: readonly number[];
  readonly tokens: number;
  readonly findings: Finding[];
}

function report(
  generation: Generation,
  contract: string,
  message: string,
  evidence: Finding['evidence'] = {},
): void {
  generation.findings.push(makeFinding('text', contract, message, evidence));
}

function run(generation: Generation, request: Partial<GenerateRequest>): Promise<Generated> {
  const base = { prompt_ids: generation.prompt, max_tokens: generation.tokens, ignore_eos: true };
  return generation.session.generate({ ...base, ...request });
}

function idsOf(wanted: Generated, got: Generated) {
  return { wanted: wanted.ids.join(' ').slice(0, 300), got: got.ids.join(' ').slice(0, 300) };
}

/** Teacher-forced logits before each generated token. */
async function logitsBefore(generation: Generation, ids: readonly number[]): Promise<Float32Array[]> {
  const rows = await generation.session.logits([...generation.prompt, ...ids.slice(0, -1)]);
  return rows.slice(generation.prompt.length - 1);
}

/** Greedy takes the largest logit; so does top_k = 1; a repetition penalty weighs down what was seen. */
async function checkGreedy(generation: Generation): Promise<Generated> {
  const greedy = await run(generation, { temperature: 0 });
  const rows = await logitsBefore(generation, greedy.ids);
  const wrong = greedy.ids.findIndex((id, step) => id !== argmax(rows[step]!));
  if (wrong >= 0) {
    const evidence = { step: wrong, wanted: argmax(rows[wrong]!), got: greedy.ids[wrong]! };
    report(
      generation,
      'sampling.token',
      `greedy token ${wrong} is not the one with the largest logit`,
      evidence,
    );
  }
  if (greedy.ids.length !== generation.tokens || greedy.finish_reason !== 'length') {
    const evidence = {
      wanted: `${generation.tokens} tokens, finish_reason length`,
      got: `${greedy.ids.length} tokens, finish_reason ${greedy.finish_reason}`,
    };
    report(
      generation,
      'text.generation',
      `max_tokens ${generation.tokens} gave ${greedy.ids.length} tokens`,
      evidence,
    );
  }
  const first = await run(generation, { temperature: 1.3, top_k: 1, seed: 5 });
  if (first.ids.join() !== greedy.ids.join())
    report(generation, 'sampling.token', 'top_k 1 differs from greedy', idsOf(greedy, first));
  const penalty = 1.7;
  const penalised = await run(generation, { temperature: 0, repetition_penalty: penalty });
  const after = await logitsBefore(generation, penalised.ids);
  const step = penalised.ids.findIndex((id, place) => {
    const seen = [...generation.prompt, ...penalised.ids.slice(0, place)];
    return id !== argmax(penalise(after[place]!, seen, penalty));
  });
  if (step >= 0) {
    const seen = [...generation.prompt, ...penalised.ids.slice(0, step)];
    const message = `repetition_penalty ${penalty}: token ${step} is not the largest penalised logit`;
    const wanted = argmax(penalise(after[step]!, seen, penalty));
    report(generation, 'sampling.token', message, { step, wanted, got: penalised.ids[step]! });
  }
  return greedy;
}

/** A seed repeats its tokens, another seed gives others, and filters keep out what they say they keep out. */
async function checkSampling(generation: Generation, random: Random): Promise<void> {
  const seed = random.u32();
  // Hot enough that two seeds hardly ever agree on every token.
  const hot = { temperature: 3, seed };
  const [first, again, other] = [
    await run(generation, hot),
    await run(generation, hot),
    await run(generation, { ...hot, seed: (seed + 1) >>> 0 }),
  ];
  if (first.ids.join() !== again.ids.join())
    report(generation, 'sampling.token', 'the same seed gave other tokens', {
      seed,
      ...idsOf(first, again),
    });
  if (first.ids.join() === other.ids.join())
    report(generation, 'sampling.token', 'two seeds gave the same tokens', {
      seed,
      wanted: 'other tokens with another seed',
      got: other.ids.join(' ').slice(0, 300),
    });
  const filters: readonly (Partial<GenerateRequest> & { name: string })[] = [
    { name: 'top_k', temperature: 2, top_k: 3 },
    { name: 'top_p', temperature: 1.2, top_p: 0.5 },
    { name: 'min_p', temperature: 1.5, min_p: 0.3 },
  ];
  for (const { name, ...request } of filters) {
    const sampled = await run(generation, { ...request, seed });
    const rows = await logitsBefore(generation, sampled.ids);
    const step = sampled.ids.findIndex((id, place) => !isAllowed(rows[place]!, id, request));
    if (step < 0) continue;
    const evidence = {
      step,
      wanted: `a token that ${name} leaves in`,
      got: `token ${sampled.ids[step]!}, number ${ranked(rows[step]!).indexOf(sampled.ids[step]!) + 1} by likelihood`,
    };
    report(generation, 'sampling.token', `${name}: token ${step} should have been filtered out`, evidence);
  }
}

function isAllowed(logits: Float32Array, id: number, request: Partial<GenerateRequest>): boolean {
  const temperature = request.temperature ?? 1;
  if (request.top_k !== undefined && !ranked(logits).slice(0, request.top_k).includes(id)) return false;
  if (request.top_p !== undefined && !isInNucleus(logits, id, temperature, request.top_p)) return false;
  if (request.min_p === undefined) return true;
  // The probability relative to the largest, at this temperature, with room for rounding.
  const highest = logits[argmax(logits)]!;
  return Math.exp((logits[id]! - highest) / temperature) >= request.min_p * 0.999;
}

/** An end-of-text token ends the answer unless it is ignored. */
async function checkEnd(generation: Generation, random: Random): Promise<boolean> {
  const { facts, constraints } = generation.context.engine;
  const room = Math.min(constraints.serving.max_context - generation.prompt.length, 256);
  if (facts.eosTokenIds.length === 0 || facts.vocabSize > 4096) return false;
  // So many draws that all of them miss the end once in ten thousand times, at a usual size of small vocabularies.
  const sure = Math.ceil((9.2 * facts.vocabSize) / (facts.eosTokenIds.length * room));
  const most = Math.min(generation.context.effort.endAttempts ?? 64, sure);
  for (let attempt = 0; attempt < most; attempt++) {
    // So hot that every token is nearly equally likely.
    const request = { temperature: 1000, max_tokens: room, seed: random.u32() };
    const free = await run(generation, { ...request, ignore_eos: true });
    const end = free.ids.findIndex((id) => facts.eosTokenIds.includes(id));
    // Without an end the two must be the same, which is asked once.
    if (end < 0 && attempt > 0) continue;
    const stopped = await run(generation, { ...request, ignore_eos: false });
    const wanted = end < 0 ? free.ids : free.ids.slice(0, end + 1);
    const reason = end < 0 ? 'length' : 'eos';
    if (stopped.ids.join() !== wanted.join() || stopped.finish_reason !== reason) {
      const evidence = {
        wanted: `${wanted.length} tokens, finish_reason ${reason}`,
        got: `${stopped.ids.length} tokens, finish_reason ${stopped.finish_reason}`,
        seed: request.seed,
      };
      report(
        generation,
        'text.generation',
        end < 0
          ? `without an end-of-text token the answer ended at position ${stopped.ids.length} of ${room}`
          : `the end-of-text token at position ${end} of the answer did not end it`,
        evidence,
      );
      return true;
    }
    if (end >= 0) return true;
  }
  return false;
}

/** A stop string that lies across token boundaries cuts the text before it, in the stream too. */
async function checkStops(generation: Generation, greedy: Generated, random: Random): Promise<void> {
  const streamed = Buffer.concat(greedy.chunks.map((chunk) => chunk.bytes)).toString('utf8');
  if (streamed !== greedy.text) {
    report(generation, 'text.generation', 'the streamed text differs from the final text', {
      wanted: JSON.stringify(greedy.text.slice(0, 200)),
      got: JSON.stringify(streamed.slice(0, 200)),
    });
  }
  const characters = [...greedy.text];
  for (let attempt = 0; attempt < 6 && characters.length >= 6; attempt++) {
    const from = 1 + random.below(characters.length - 5);
    const stop = characters.slice(from, from + 2 + random.below(4)).join('');
    if (stop.includes('\ufffd')) continue;
    const wanted = greedy.text.slice(0, greedy.text.indexOf(stop));
    const stopped = await run(generation, { temperature: 0, stop: ['\u0001never\u0001', stop] });
    const shown = Buffer.concat(stopped.chunks.map((chunk) => chunk.bytes)).toString('utf8');
    if (stopped.text === wanted && shown === wanted && stopped.finish_reason === 'stop') continue;
    const evidence = {
      stop: JSON.stringify(stop),
      wanted: JSON.stringify(wanted),
      got: JSON.stringify(stopped.text),
      shown: JSON.stringify(shown),
      finish_reason: stopped.finish_reason,
    };
    report(
      generation,
      'text.stop',
      `the stop string ${JSON.stringify(stop)} did not end the text where it begins`,
      evidence,
    );
    return;
  }
}

/** What generation does with ids, whatever the tokenizer is; with one, what it shows as text. */
export async function checkGeneration(
  context: GateContext,
  session: EngineSession,
  random: Random,
): Promise<Finding[]> {
  const { facts, tokenizer, constraints } = context.engine;
  const { max_context } = constraints.serving;
  const length = Math.max(1, Math.min(8, max_context - 2));
  const prompt = random.ids(length, facts.vocabSize);
  const tokens = Math.min(16, max_context - length);
  const generation: Generation = { context, session, prompt, tokens, findings: [] };
  const greedy = await checkGreedy(generation);
  await checkSampling(generation, random);
  await checkEnd(generation, random);
  if (tokenizer.model !== 'none') await checkStops(generation, greedy, random);
  return generation.findings;
}
