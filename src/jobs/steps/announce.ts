import { renderPlanReview } from '../../delivery/render-plan-review.ts';
import { renderIssueStatus } from '../../delivery/render-status.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { step } from '../../pipeline.ts';
import { type AppContext, clientOf } from '../app-context.ts';
import { askPermission, readRepositoryConfig } from '../ask-permission.ts';
import { makeRunView } from '../run-view.ts';
import { findRunnerNeed } from '../served-labels.ts';
import { tellSource } from '../tell-source.ts';

/** Tells the plan, and whether somebody has to allow what comes next. */
export async function announce(context: AppContext, run: RunRecord): Promise<RunEvent> {
  const beyond = await findTokenLimit(context, run);
  const needsApproval = beyond !== undefined || (await mustWait(context, run));
  // The text is written for the state that follows it.
  const { state } = step(run.state, { type: 'announced', needsApproval });
  await tellPlan(context, { ...run, state }, beyond);
  return { type: 'announced', needsApproval };
}

/** What the repository spends without asking, where the plan expects more and nobody has let it through. */
async function findTokenLimit(context: AppContext, run: RunRecord): Promise<number | undefined> {
  const plan = (await context.store.readDocument(run.id, 'plan'))!;
  const expected = plan.cost.modelTokens ?? 0;
  if (expected === 0) return undefined;
  const { generation } = await readRepositoryConfig(context, run.repository);
  const isBeyond = expected > generation.auto_approve_tokens;
  return isBeyond && !(await isApproved(context, run)) ? generation.auto_approve_tokens : undefined;
}

async function isApproved({ store }: AppContext, { repository, source, state }: RunRecord): Promise<boolean> {
  if (source.kind !== 'issue') return false;
  return (await store.findApproval(repository.id, source.number, state.constraintsSha256!)) !== undefined;
}

async function mustWait(context: AppContext, run: RunRecord): Promise<boolean> {
  const { repository, requestedBy, state } = run;
  if (state.holdAfterPlan === true) return true;
  const isLetThrough = await isApproved(context, run);
  for (const capability of ['generate', 'runner'] as const) {
    const answer = await askPermission(context, {
      ...{ repository, actor: requestedBy, capability, isApproved: isLetThrough },
    });
    if (!answer.allowed) return true;
  }
  return false;
}

async function tellPlan(
  context: AppContext,
  run: RunRecord,
  autoApproveTokens: number | undefined,
): Promise<void> {
  const isHeld = run.state.waitingFor === 'approval';
  const { allow } = await readRepositoryConfig(context, run.repository);
  const need = await findRunnerNeed(context, run);
  const view = await makeRunView(context, run, {
    ...(need === undefined ? {} : { need }),
    ...(isHeld ? { approvalFrom: allow.generate } : {}),
    ...(autoApproveTokens === undefined ? {} : { autoApproveTokens }),
  });
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
