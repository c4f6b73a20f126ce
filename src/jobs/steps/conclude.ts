import { renderIssueStatus } from '../../delivery/render-status.ts';
import { renderTerminalComment } from '../../delivery/render-terminal.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { type AppContext, clientOf, needsKnowledgeLabel } from '../app-context.ts';
import { runsOfSource } from '../request-run.ts';
import { makeRunView } from '../run-view.ts';
import { said } from '../said.ts';
import { tellSource } from '../tell-source.ts';
import { tryKey } from '../try-key.ts';
import { concludePull } from './conclude-pull.ts';
import { tellPull } from './dispatch.ts';
import { reviewSource } from './review-source.ts';

/**
 * Says how the run ended, everywhere it was heard of: check, review and pull request first, then the sticky comments,
 * then one new short comment. A constraint file that was refused gets its problems and nothing more.
 */
export async function conclude(context: AppContext, run: RunRecord): Promise<RunEvent> {
  // The texts are about the end, not about the telling of it.
  const ended: RunRecord = {
    ...run,
    state: { ...run.state, status: run.state.ending ?? 'failed', next: null },
  };
  const { state, source, repository } = ended;
  let isBranchMoved = false;
  if (state.github !== undefined) {
    await said(context, run, async () => {
      ({ isBranchMoved } = await concludePull(context, ended));
    });
    await said(context, run, () => tellPull(context, ended, { isBranchMoved }));
  }
  const isUnread = state.constraints === undefined;
  if (source.kind === 'pull' && state.github === undefined && state.status === 'failed')
    await said(context, run, () => reviewSource(context, ended));
  const view = await makeRunView(context, ended, { isBranchMoved });
  // A superseded run's sticky comment belongs to the newer run already.
  if (state.status !== 'superseded' && !(source.kind === 'pull' && isUnread))
    await said(context, run, () => tellSource(context, ended, renderIssueStatus(view)));
  const client = clientOf(context, repository);
  if (state.failure?.code === 'NOT_COVERED')
    await said(context, run, () => client.addLabel(source.number, needsKnowledgeLabel));
  const body = renderTerminalComment(view);
  const once = { scope: run.id, key: `end:${tryKey(state)}` };
  if (body !== null && state.github !== undefined && !(await isFirstWord(context, ended)))
    await said(context, run, () => client.createComment(once, source.number, body));
  return { type: 'concluded' };
}

/**
 * On a pull request the plan is a review, so the sticky comment appears with the first run's end: it is the new comment
 * then. Later ones edit it, which reaches nobody's inbox.
 */
async function isFirstWord(context: AppContext, run: RunRecord): Promise<boolean> {
  if (run.source.kind === 'issue' || run.state.retries !== undefined) return false;
  const runs = await runsOfSource(context, run.repository, run.source);
  return !runs.some(({ id, state }) => id !== run.id && state.github !== undefined);
}
