import type { Report } from '../../model/report.ts';
import type { RunEvent, RunState } from '../../model/run.ts';
import { diagnoseEngine } from '../../preparation/diagnose-engine.ts';
import type { PreparedEngine } from '../../preparation/prepare-engine.ts';
import { type AgentRunner, agentFilesOf, requireAgents } from './agent-steps.ts';
import { bisectByRealizations } from './bisect.ts';

/** Who is to repair a red verdict, and what they are told. */
export async function diagnoseFailure(
  state: RunState,
  prepared: PreparedEngine,
  report: Report,
  runner: AgentRunner,
): Promise<RunEvent> {
  const agents = requireAgents(runner);
  const work = state.agents!;
  const agentFiles = await agentFilesOf(state, runner);
  const { suspects, findings, notes } = await diagnoseEngine({
    gates: report.gates,
    selection: prepared.selection,
    work,
    files: agentFiles,
    bisect: (candidates) =>
      bisectByRealizations({
        ...runner,
        ...{ prepared, agentFiles, suspects: candidates, gates: report.gates },
        runSeed: report.inputs.runSeed,
      }),
    model: agents.openModel(work.limits.spending),
    signal: runner.signal,
  });
  for (const note of notes) runner.onNote(note);
  runner.onNote(
    `to be written again: ${[...new Set(findings.map(({ contract }) => contract))].join(', ') || 'nothing'}`,
  );
  return { type: 'diagnosed', suspects, findings, spent: await agents.ledger.spent() };
}
