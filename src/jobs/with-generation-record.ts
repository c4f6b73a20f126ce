import { makeGenerationRecord } from '../generation/agents/make-generation-record.ts';
import { isFromTestDouble } from '../model/completion-ledger.ts';
import type { Report } from '../model/report.ts';
import type { RunRecord } from '../model/run-record.ts';
import { similarity } from '../model/winnowing.ts';
import { readPapers } from './agent-runs.ts';
import type { AppContext } from './app-context.ts';

/** The report with what we know of how agents made the engine. What a runner says about that is not believed. */
export async function withGenerationRecord(
  context: AppContext,
  run: RunRecord,
  report: Report,
): Promise<Report> {
  const { generation: _, ...judged } = report;
  const { agents, constraints } = run.state;
  if (agents === undefined || context.llm === undefined) return judged;
  const { settings } = context.llm;
  const calls = await context.store.completionLedger(run, { tokensPerDay: null }).list();
  const written = new Set(agents.contracts.map(({ contract }) => contract));
  const generation = makeGenerationRecord({
    mode: constraints!.generation.mode,
    work: agents,
    papers: await readPapers(context, run),
    calls,
    endpoint: new URL(settings.base_url).host,
    isReal: settings.real_model && !isFromTestDouble(calls),
    seconds: (context.now().getTime() - run.createdAt.getTime()) / 1000,
    linesTotal: report.engine.lineCount,
    references: context.catalog.contracts
      .filter(({ frontMatter }) => written.has(frontMatter.id))
      .flatMap(({ folder, realizations }) =>
        realizations.map(({ file, text }) => ({
          ...{ name: `${folder}/${file}`, kind: 'realization' as const, text },
        })),
      ),
    similarity,
  });
  return { ...judged, generation };
}
