import { writeEngine } from '../../generation/write-engine.ts';
import type { AgentPapers } from '../../model/agent-work.ts';
import type { Report } from '../../model/report.ts';
import type { RunEvent, RunState } from '../../model/run.ts';
import type { PreparedEngine } from '../../preparation/prepare-engine.ts';
import { hashEngineTree } from '../../verification/engine-tree.ts';
import { benchmarkOutcome, verificationOutcome } from '../../verification/report-outcomes.ts';
import { type AgentRunner, agentFilesOf, makeTask, requireAgents } from './agent-steps.ts';
import { readPapers, savePapers } from './local-agents.ts';
import { type OptimizeOutcome, optimizeOnce } from './optimize.ts';

/**
 * One proposal for a faster realization. A kept one takes its place in the engine folder, and `save` gets its report;
 * a dropped one leaves everything as it was.
 */
export async function optimizeNext(
  state: RunState,
  prepared: PreparedEngine,
  report: Report,
  runner: AgentRunner & { readonly baseline: boolean },
  save: (report: Report) => Promise<string>,
): Promise<RunEvent> {
  const agents = requireAgents(runner);
  const papers = await readPapers(agents.papersPath);
  const { attempt, kept, isLast } = await optimizeOnce({
    ...runner,
    ...{ prepared, report, folder: state.folder },
    agentFiles: await agentFilesOf(state, runner),
    // A step that was cut off is done again: what it noted down by then is not an earlier attempt.
    earlier: papers.optimizations.slice(0, state.agents!.optimizations),
    makeTask: (changed, contract, previous) =>
      makeTask(state, { contract, findings: [] }, changed, runner.catalog, previous),
    model: agents.openModel(state.agents!.limits.spending),
    runSeed: runner.runSeed ?? report.inputs.runSeed,
  });
  if (attempt !== null) {
    await savePapers(agents.papersPath, withAttempt(papers, state, { attempt, kept, isLast }));
    const figures =
      attempt.ratio === null ? '' : `, ${attempt.ratio.toFixed(3)} ± ${attempt.spread?.toFixed(3)}`;
    runner.onNote(
      `${attempt.contract}: ${attempt.outcome}${figures}${attempt.reason === null ? '' : ` (${attempt.reason})`}`,
    );
  }
  const spent = await agents.ledger.spent();
  if (kept === null) return { type: 'optimized', kept: null, spent, isLast };
  await writeEngine(kept.sources, state.folder);
  const path = await save(kept.report);
  const { contract, sha256 } = kept.file;
  return {
    type: 'optimized',
    kept: {
      ...{ contract, fileSha256: sha256, treeSha256: hashEngineTree(state.folder) },
      verification: verificationOutcome(kept.report, path),
      benchmark: benchmarkOutcome(kept.report),
    },
    ...{ spent, isLast },
  };
}

function withAttempt(papers: AgentPapers, state: RunState, { attempt, kept }: OptimizeOutcome): AgentPapers {
  const before = papers.optimizations.slice(0, state.agents!.optimizations);
  return {
    ...papers,
    versions: kept === null ? papers.versions : [...papers.versions, kept.file],
    optimizations: [...before, attempt!],
  };
}
