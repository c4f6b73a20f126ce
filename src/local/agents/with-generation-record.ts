import { dirname } from 'node:path';
import { makeGenerationRecord } from '../../generation/agents/make-generation-record.ts';
import type { GenerationRecord } from '../../model/generation-record.ts';
import type { Report } from '../../model/report.ts';
import type { RunState } from '../../model/run.ts';
import { similarity } from '../../model/winnowing.ts';
import type { Request } from '../../preparation/read-request.ts';
import { type AgentRunner, readSourceFiles } from './agent-steps.ts';
import { readPapers } from './local-agents.ts';

/** The report with what is known of how agents made the engine; unchanged where no agent had a part. */
export async function withGenerationRecord(
  report: Report,
  state: RunState,
  request: Request,
  runner: AgentRunner,
): Promise<Report> {
  const generation = await generationRecordOf(state, request, runner, report.engine.lineCount);
  return generation === undefined ? report : { ...report, generation };
}

/** The record of a run as far as it has come; undefined where no agent had a part. */
export async function generationRecordOf(
  state: RunState,
  request: Request,
  runner: AgentRunner,
  linesTotal: number,
): Promise<GenerationRecord | undefined> {
  const { agents } = runner;
  if (state.agents === undefined || agents === undefined) return undefined;
  const written = new Set(state.agents.contracts.map(({ contract }) => contract));
  const sources = await readSourceFiles({ request }, dirname(state.input.fileName));
  const realizations = runner.catalog.contracts
    .filter(({ frontMatter }) => written.has(frontMatter.id))
    .flatMap(({ folder, realizations: known }) =>
      known.map(({ file, text }) => ({ name: `${folder}/${file}`, kind: 'realization' as const, text })),
    );
  return makeGenerationRecord({
    mode: request.constraints.generation.mode,
    work: state.agents,
    papers: await readPapers(agents.papersPath),
    calls: await agents.ledger.list(),
    ...agents.describeModel(),
    seconds: state.wallSeconds ?? 0,
    linesTotal,
    references: [
      ...realizations,
      ...sources.map(({ path, text }) => ({ name: path, kind: 'source-reference' as const, text })),
    ],
    similarity,
  });
}
