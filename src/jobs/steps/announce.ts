import { renderPlanReview } from '../../delivery/render-plan-review.ts';
import { renderIssueStatus } from '../../delivery/render-status.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { step } from '../../pipeline.ts';
import { type AppContext, clientOf } from '../app-context.ts';
import { askPermission, readRepositoryConfig } from '../ask-permission.ts';
import { makeRunView } from '../run-view.ts';
import { tellSource } from '../tell-source.ts';

/** Tells the plan, and whether somebody has to allow what comes next. */
export async function announce(context: AppContext, run: RunRecord): Promise<RunEvent> {
  const needsApproval = await mustWait(context, run);
  // The text is written for the state that follows it.
  const { state } = step(run.state, { type: 'announced', needsApproval });
  await tellPlan(context, { ...run, state });
  return { type: 'announced', needsApproval };
}

async function mustWait(context: AppContext, run: RunRecord): Promise<boolean> {
  const { repository, source, requestedBy, state } = run;
  if (state.holdAfterPlan === true) return true;
  const approval =
    source.kind === 'issue'
      ? await context.store.findApproval(repository.id, source.number, state.constraintsSha256!)
      : undefined;
  for (const capability of ['generate', 'runner'] as const) {
    const answer = await askPermission(context, {
      ...{ repository, actor: requestedBy, capability, isApproved: approval !== undefined },
    });
    if (!answer.allowed) return true;
  }
  return false;
}

async function tellPlan(context: AppContext, run: RunRecord): Promise<void> {
  const isHeld = run.state.waitingFor === 'approval';
  const { allow } = await readRepositoryConfig(context, run.repository);
  const view = await makeRunView(context, run, isHeld ? { approvalFrom: allow.generate } : {});
  if (run.source.kind === 'issue') return tellSource(context, run, renderIssueStatus(view));
  const client = clientOf(context, run.repository);
  const pull = await client.readPull(run.source.number);
  const files = await client.listPullFiles(run.source.number);
  const sequel = pull.isFork
    ? 'plan-only'
    : run.state.waitingFor === 'approval'
      ? 'waits-for-approval'
      : 'generates';
  const review = renderPlanReview(view, files, sequel);
  await client.createReview({ scope: run.id, key: 'plan' }, run.source.number, pull.headSha, review);
}
