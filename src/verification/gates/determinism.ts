import type { Finding } from '../../model/report.ts';
import { drawFor, type GateContext, type GateOutcome, makeFinding } from '../gate-context.ts';
import { differenceOf, firstDifference } from '../measures.ts';

interface Observed {
  readonly rows: readonly Float32Array[];
  readonly greedy: readonly number[];
  readonly sampled: readonly number[];
}

/** What one fresh process answers to the same requests. */
async function observe(context: GateContext): Promise<Observed> {
  const random = drawFor(context, 'determinism');
  const { max_context } = context.engine.constraints.serving;
  const length = Math.min(context.effort.oracleTokens, 32, Math.max(1, max_context - 16));
  const ids = random.ids(length, context.engine.facts.vocabSize);
  const tokens = Math.min(12, max_context - length);
  const request = { prompt_ids: ids, max_tokens: tokens, ignore_eos: true };
  const session = await context.openEngine();
  try {
    const logits = await session.logits(ids);
    const prefilled = await session.prefill(0, ids);
    const decoded = await session.decode(0, prefilled.argmax, Math.min(4, max_context - length));
    const greedy = await session.generate({ ...request, temperature: 0 });
    const sampled = await session.generate({ ...request, temperature: 1.5, seed: random.u32() });
    return { rows: [...logits, prefilled.logits, decoded.logits], greedy: greedy.ids, sampled: sampled.ids };
  } finally {
    await session.quit();
  }
}

/** Fresh processes answer with the same bits. */
export async function runDeterminismGate(context: GateContext): Promise<GateOutcome> {
  const first = await observe(context);
  const findings: Finding[] = [];
  for (let process = 1; process < context.effort.processes && findings.length === 0; process++) {
    const other = await observe(context);
    const difference = firstDifference(first.rows, other.rows);
    if (difference !== null) {
      const evidence = { process, ...differenceOf(difference) };
      findings.push(
        makeFinding(
          'determinism',
          'runtime.threading',
          `process ${process} gives other logits than process 0`,
          evidence,
        ),
      );
    }
    for (const kind of ['greedy', 'sampled'] as const) {
      if (first[kind].join() === other[kind].join()) continue;
      const evidence = {
        process,
        wanted: first[kind].join(' ').slice(0, 300),
        got: other[kind].join(' ').slice(0, 300),
      };
      findings.push(
        makeFinding(
          'determinism',
          'sampling.token',
          `process ${process} generates other ${kind} tokens than process 0`,
          evidence,
        ),
      );
    }
  }
  return { findings, measurements: { processes: context.effort.processes, rows: first.rows.length } };
}
