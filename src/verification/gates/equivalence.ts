import type { Finding } from '../../model/report.ts';
import {
  drawFor,
  type EngineSession,
  type GateContext,
  type GateOutcome,
  makeFinding,
} from '../gate-context.ts';
import { argmax, divergence, figure, firstDifference } from '../measures.ts';
import type { Random } from '../random.ts';

const divergenceLimit = 1e-6;
const shortLengths = [2, 3, 2];

interface Check {
  readonly name: string;
  readonly contract: string;
  readonly wanted: readonly Float32Array[];
  readonly got: readonly Float32Array[];
}

/** Two ways to the same rows: bitwise equal, or their largest KLD within the limit. */
function judge(check: Check): { finding: Finding | undefined; bitwise: boolean } {
  const difference = firstDifference(check.wanted, check.got);
  if (difference === null) return { finding: undefined, bitwise: true };
  const { row, column } = difference;
  const evidence = {
    check: check.name,
    row,
    token: column,
    wanted: figure(difference.left),
    got: figure(difference.right),
  };
  if (column < 0) {
    return {
      finding: makeFinding(
        'equivalence',
        check.contract,
        `${check.name}: the number of rows differs`,
        evidence,
      ),
      bitwise: false,
    };
  }
  const worst = Math.max(...check.wanted.map((wanted, index) => divergence(wanted, check.got[index]!)));
  const message = `${check.name}: the two ways differ, first at row ${row}, token ${column}; KLD ${worst.toExponential(2)} (limit ${divergenceLimit})`;
  const isClose = worst <= divergenceLimit;
  return {
    finding: isClose
      ? undefined
      : makeFinding('equivalence', check.contract, message, { ...evidence, kld: figure(worst) }),
    bitwise: false,
  };
}

function randomChunks(random: Random, total: number): number[] {
  const chunks: number[] = [];
  for (let left = total; left > 0; left -= chunks.at(-1)!) chunks.push(1 + random.below(Math.min(left, 9)));
  return chunks;
}

async function singleChecks(
  session: EngineSession,
  ids: readonly number[],
  random: Random,
): Promise<Check[]> {
  const whole = await session.logits(ids);
  const last = whole.slice(-1);
  const checks: Check[] = [];
  const add = (
    name: string,
    contract: string,
    wanted: readonly Float32Array[],
    got: readonly Float32Array[],
  ) => checks.push({ name, contract, wanted, got });
  add(
    'one token at a time = whole prompt',
    'decoder.model',
    whole,
    await session.logits(
      ids,
      ids.map(() => 1),
    ),
  );
  add(
    'random chunks = whole prompt',
    'decoder.model',
    whole,
    await session.logits(ids, randomChunks(random, ids.length)),
  );
  add('prefill = last row of the whole prompt', 'harness.protocol', last, [
    (await session.prefill(0, ids)).logits,
  ]);
  const shorter = await session.prefill(0, ids.slice(0, -1));
  add('prefill of one token less = the row before', 'kv.cache', whole.slice(-2, -1), [shorter.logits]);
  const decoded = await session.decode(0, ids.at(-1)!, 1);
  add('prefill of one token less, then decode = whole prompt', 'kv.cache', last, [decoded.logits]);
  return [...checks, ...(await shortChecks(session, ids, whole))];
}

/** Calls of few rows, between calls of one: what an engine keeps of a call must not serve a call of another size. */
async function shortChecks(
  session: EngineSession,
  ids: readonly number[],
  whole: readonly Float32Array[],
): Promise<Check[]> {
  const checks: Check[] = [];
  const add = (name: string, row: number, got: Float32Array) =>
    checks.push({ name, contract: 'decoder.model', wanted: whole.slice(row, row + 1), got: [got] });
  for (const length of shortLengths.filter((entry) => entry < ids.length)) {
    const { logits } = await session.prefill(0, ids.slice(0, length));
    add(`prefill of ${length} tokens = that row of the whole prompt`, length - 1, logits);
    const next = await session.decode(0, ids[length]!, 1);
    add(`one token after ${length} = that row of the whole prompt`, length, next.logits);
  }
  return checks;
}

/** Greedy decoding fed with its own choice, against the same tokens teacher-forced. */
async function decodeChecks(
  session: EngineSession,
  ids: readonly number[],
  steps: number,
): Promise<{ checks: Check[]; findings: Finding[] }> {
  const first = (await session.prefill(0, ids)).argmax;
  const decoded = await session.decode(0, first, steps);
  const fed = [...ids, first, ...decoded.argmax.slice(0, -1)];
  const forced = await session.logits(fed);
  const wanted = [first, ...decoded.argmax].map((_, step) => argmax(forced[ids.length - 1 + step]!));
  const wrong = [first, ...decoded.argmax].findIndex((token, step) => token !== wanted[step]);
  const findings =
    wrong < 0
      ? []
      : [
          makeFinding(
            'equivalence',
            'kv.cache',
            `decode step ${wrong} chose another token than the same tokens teacher-forced`,
            {
              step: wrong,
              wanted: wanted[wrong]!,
              got: [first, ...decoded.argmax][wrong]!,
            },
          ),
        ];
  const check = {
    name: 'decode = teacher-forced',
    contract: 'kv.cache',
    wanted: forced.slice(-1),
    got: [decoded.logits],
  };
  return { checks: [check], findings };
}

async function batchChecks(
  session: EngineSession,
  context: GateContext,
  random: Random,
  longest: number,
  steps: number,
): Promise<{ checks: Check[]; findings: Finding[] }> {
  const { max_batch } = context.engine.constraints.serving;
  const count = Math.min(max_batch, 4);
  const sequences = Array.from({ length: count }, (_, index) =>
    random.ids(index === 0 ? longest : 1 + random.below(longest), context.engine.facts.vocabSize),
  );
  const checks: Check[] = [];
  const findings: Finding[] = [];
  const together = await session.batch(sequences);
  for (const [index, ids] of sequences.entries()) {
    const alone = await session.logits(ids);
    checks.push({
      name: `sequence ${index} of a batch of ${count} = alone`,
      contract: 'decoder.model',
      wanted: alone,
      got: together[index]!,
    });
  }
  // Each slot alone first, then all of them side by side from the same state.
  const alone = [];
  for (const [slot, ids] of sequences.entries()) {
    const { argmax: first } = await session.prefill(slot, ids);
    alone.push({ first, decoded: await session.decode(slot, first, steps) });
  }
  for (const [slot, ids] of sequences.entries()) await session.prefill(slot, ids);
  const batch = await session.batchDecode(
    alone.map(({ first }) => first),
    steps,
  );
  for (const [slot, { decoded }] of alone.entries()) {
    checks.push({
      name: `slot ${slot} of a batched decode = alone`,
      contract: 'kv.cache',
      wanted: [decoded.logits],
      got: [batch.logits[slot]!],
    });
    const wrong = decoded.argmax.findIndex((token, step) => token !== batch.argmax[step]![slot]);
    if (wrong < 0) continue;
    const evidence = { slot, step: wrong, wanted: decoded.argmax[wrong]!, got: batch.argmax[wrong]![slot]! };
    findings.push(
      makeFinding(
        'equivalence',
        'kv.cache',
        `slot ${slot} of a batched decode chose another token at step ${wrong} than alone`,
        evidence,
      ),
    );
  }
  return { checks, findings };
}

/** Prefill = decode, chunked = whole, batch = singles, slot k = slot 0. */
export async function runEquivalenceGate(context: GateContext): Promise<GateOutcome> {
  const random = drawFor(context, 'equivalence');
  const { max_context } = context.engine.constraints.serving;
  const length = Math.max(2, Math.min(context.effort.oracleTokens, 48, max_context - 1));
  const steps = Math.min(8, max_context - length);
  const session = await context.openEngine();
  try {
    const ids = random.ids(length, context.engine.facts.vocabSize);
    const single = await singleChecks(session, ids, random);
    const decoded = await decodeChecks(session, ids.slice(0, Math.ceil(length / 2)), steps);
    const batch = await batchChecks(session, context, random, length, steps);
    const checks = [...single, ...decoded.checks, ...batch.checks];
    const judged = checks.map(judge);
    const findings = judged.flatMap(({ finding }) => finding ?? []);
    return {
      findings: [...findings, ...decoded.findings, ...batch.findings],
      measurements: {
        checks: checks.length,
        bitwise_equal: judged.filter(({ bitwise }) => bitwise).length,
        positions: length,
      },
    };
  } finally {
    await session.quit();
  }
}
