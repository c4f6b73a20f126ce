import type { Finding } from '../../model/report.ts';
import { EngineFailure } from '../engine-channel.ts';
import {
  drawFor,
  type EngineSession,
  type GateContext,
  type GateOutcome,
  makeFinding,
} from '../gate-context.ts';
import { differenceOf, figure, firstDifference } from '../measures.ts';

/** Lengths where code tends to break: one, windows and forward calls and their neighbours, the whole context. */
export function edgeLengths(context: GateContext): number[] {
  const { facts, maxRows, constraints } = context.engine;
  const { max_context } = constraints.serving;
  const turns = [...new Set(facts.layerWindows.filter((window) => window > 0)), maxRows, 16];
  const lengths = [
    1,
    2,
    ...turns.flatMap((turn) => [turn - 1, turn, turn + 1]),
    max_context - 1,
    max_context,
  ];
  const affordable = Math.min(max_context, affordableTokens(context));
  return [...new Set(lengths.filter((length) => length >= 1 && length <= affordable))].sort((a, b) => a - b);
}

/** The engine itself does these; some 20 times what the oracle may do is cheap. Replies hold a row per token. */
function affordableTokens(context: GateContext): number {
  const replyTokens = Math.floor(2 ** 28 / (4 * context.engine.facts.vocabSize));
  const { oracleTokens, engineTokens = oracleTokens * 20 } = context.effort;
  return Math.min(engineTokens, replyTokens);
}

interface Refusal {
  readonly name: string;
  readonly request: (session: EngineSession) => Promise<unknown>;
}

function listRefusals(context: GateContext): Refusal[] {
  const { vocabSize } = context.engine.facts;
  const { max_context, max_batch } = context.engine.constraints.serving;
  const tooLong = Array.from({ length: max_context + 1 }, () => 0);
  return [
    { name: 'a token id equal to the vocabulary size', request: (session) => session.logits([0, vocabSize]) },
    { name: 'a token id of 2^31', request: (session) => session.prefill(0, [2 ** 31]) },
    { name: 'a token id of 2^32 - 1', request: (session) => session.logits([2 ** 32 - 1]) },
    { name: 'one token more than max_context', request: (session) => session.prefill(0, tooLong) },
    {
      name: 'one token more than max_context in teacher-forced logits',
      request: (session) => session.logits(tooLong),
    },
    { name: 'a slot equal to max_batch', request: (session) => session.prefill(max_batch, [0]) },
    {
      name: 'more sequences than max_batch',
      request: (session) => session.batch(Array.from({ length: max_batch + 1 }, () => [0])),
    },
    { name: 'chunks that do not add up to the ids', request: (session) => session.logits([0, 0, 0], [1, 1]) },
    { name: 'an empty prompt', request: (session) => session.prefill(0, []) },
    { name: 'decoding past max_context', request: (session) => decodePastEnd(session, max_context) },
  ];
}

async function decodePastEnd(session: EngineSession, maxContext: number): Promise<unknown> {
  await session.prefill(0, [0]);
  return session.decode(0, 0, maxContext);
}

/** Each must be answered with an error frame that says why, and the engine must go on as before. */
async function checkRefusals(context: GateContext, session: EngineSession): Promise<Finding[]> {
  const findings: Finding[] = [];
  const probe = drawFor(context, 'edges').ids(3, context.engine.facts.vocabSize);
  const before = await session.logits(probe);
  for (const { name, request } of listRefusals(context)) {
    const outcome = await request(session).then(
      () => 'accepted' as const,
      (error: unknown) => {
        if (error instanceof EngineFailure && error.kind === 'refused') return error.message;
        throw error;
      },
    );
    if (outcome === 'accepted') {
      findings.push(
        makeFinding('edges', 'decoder.model', `${name} was accepted instead of refused`, {
          ...{ case: name, wanted: 'an error frame that says why', got: 'it was accepted' },
        }),
      );
    } else if (outcome.trim() === '') {
      findings.push(
        makeFinding('edges', 'harness.protocol', `${name} was refused without a reason`, {
          ...{ case: name, wanted: 'an error frame that says why', got: 'an error frame without text' },
        }),
      );
    }
    const changed = firstDifference(before, await session.logits(probe));
    if (changed !== null) {
      const evidence = { case: name, ...differenceOf(changed) };
      findings.push(
        makeFinding('edges', 'decoder.model', `after ${name} was refused, results changed`, evidence),
      );
    }
  }
  return findings;
}

/** NaN in everything that a forward call doesn't write must change nothing; nor may what an earlier prompt left behind. */
async function checkLengths(context: GateContext, session: EngineSession): Promise<Finding[]> {
  const findings: Finding[] = [];
  const lengths = edgeLengths(context);
  const ids = drawFor(context, 'edges').ids(lengths.at(-1)!, context.engine.facts.vocabSize);
  await session.poison();
  const whole = await session.logits(ids);
  for (const [row, values] of whole.entries()) {
    const token = values.findIndex((value) => !Number.isFinite(value));
    if (token < 0) continue;
    const result = { wanted: 'a finite logit', got: figure(values[token]!) };
    const evidence = { position: row, token, length: ids.length, ...result };
    return [
      makeFinding(
        'edges',
        'kv.cache',
        `after poisoning, the logits of position ${row} are not finite`,
        evidence,
      ),
    ];
  }
  for (const length of lengths) {
    const wanted = whole.slice(0, length);
    await session.poison();
    const poisoned = firstDifference(wanted, await session.logits(ids.slice(0, length)));
    const stale = firstDifference(wanted, await session.logits(ids.slice(0, length)));
    if (poisoned !== null) {
      const message = `a prompt of ${length} after poisoning differs from the first ${length} positions of a longer one`;
      findings.push(makeFinding('edges', 'kv.cache', message, { length, ...differenceOf(poisoned) }));
    } else if (stale !== null) {
      const message = `a prompt of ${length} differs when it is run again over its own leftovers`;
      findings.push(makeFinding('edges', 'kv.cache', message, { length, ...differenceOf(stale) }));
    }
  }
  return findings;
}

/** Every slot, to the last position of the context, in one prefill and by decoding into it. */
async function checkLastSlot(context: GateContext, session: EngineSession): Promise<Finding[]> {
  const { max_batch, max_context } = context.engine.constraints.serving;
  const length = Math.min(max_context, affordableTokens(context), 2 * context.engine.maxRows + 1);
  if (length < 2) return [];
  const ids = drawFor(context, 'edges').ids(length, context.engine.facts.vocabSize);
  await session.poison();
  const inFirst = await session.prefill(0, ids);
  await session.poison();
  await session.prefill(max_batch - 1, ids.slice(0, -1));
  const inLast = await session.decode(max_batch - 1, ids.at(-1)!, 1);
  const difference = firstDifference([inFirst.logits], [inLast.logits]);
  if (difference === null) return [];
  const message = `the last slot's position ${length - 1} differs from the first slot's`;
  return [makeFinding('edges', 'kv.cache', message, { length, ...differenceOf(difference) })];
}

export async function runEdgesGate(context: GateContext): Promise<GateOutcome> {
  const session = await context.openEngine();
  const findings: Finding[] = [];
  try {
    findings.push(...(await checkLengths(context, session)));
    findings.push(...(await checkLastSlot(context, session)));
    findings.push(...(await checkRefusals(context, session)));
  } finally {
    const { exitCode } = await session.quit();
    if (exitCode !== 0) {
      const message = `the engine ends with exit code ${exitCode ?? 'none'} after quit; expected 0`;
      const evidence = { wanted: 'exit code 0', got: `exit code ${exitCode ?? 'none'}` };
      findings.push(makeFinding('edges', 'harness.protocol', message, evidence));
    }
  }
  return {
    findings,
    measurements: { lengths: edgeLengths(context).join(' '), refusals: listRefusals(context).length },
  };
}
