import { renderCheck } from '../../delivery/render-check.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { step } from '../../pipeline.ts';
import { diagnoseEngine } from '../../preparation/diagnose-engine.ts';
import { agentFilesOf, openAgents } from '../agent-runs.ts';
import { type AppContext, clientOf } from '../app-context.ts';
import { makeRunView } from '../run-view.ts';
import { prepareAgain } from './plan.ts';

/** Which contracts are to be repaired, and what their agents are told. */
export async function diagnose(context: AppContext, run: RunRecord, signal: AbortSignal): Promise<RunEvent> {
  const report = (await context.store.readDocument(run.id, 'report'))!;
  const { selection } = await prepareAgain(context, run);
  const { model, ledger } = await openAgents(context, run, signal);
  const { suspects, findings, notes } = await diagnoseEngine({
    ...{ gates: report.gates, selection, work: run.state.agents!, model, signal },
    files: await agentFilesOf(context, run),
  });
  const contracts = [...new Set(findings.map(({ contract }) => contract))];
  const event: RunEvent = { type: 'diagnosed', suspects, findings, spent: await ledger.spent() };
  const { state } = step(run.state, event);
  if (state.next === 'generate') {
    const text = [`to be written again: ${contracts.join(', ')}`, ...notes].join('; ');
    await context.store.addTimeline(run.id, { kind: 'step', text, url: null });
    await closeCheck(context, run);
  }
  return event;
}

/** The commit that was judged keeps its red check: what follows is another commit, with a check of its own. */
async function closeCheck(context: AppContext, run: RunRecord): Promise<void> {
  const { checkRunId } = run.state.github!;
  if (checkRunId === undefined) return;
  const failure = { step: 'judge', code: 'VERDICT_FAILED', message: '', next: '' } as const;
  const judged = { ...run, state: { ...run.state, status: 'failed' as const, next: null, failure } };
  const check = renderCheck(await makeRunView(context, judged, { isRepairing: true }));
  const once = { scope: run.id, key: `check-end:${run.state.attempt}` };
  await clientOf(context, run.repository).updateCheck(once, checkRunId, check);
}
