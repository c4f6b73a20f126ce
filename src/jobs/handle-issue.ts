import type { RepositoryClient } from '../adapters/github/repository-client.ts';
import { renderDailyLimit, renderLabelRefused, renderSeveralBlocks } from '../delivery/intake-texts.ts';
import { renderRefusal } from '../delivery/replies.ts';
import type { Intent } from '../model/github.ts';
import { findConstraintBlock } from '../webhooks/find-constraint-block.ts';
import { done, type Handled, ignored } from './answer.ts';
import { type AppContext, approvedLabel, clientOf } from './app-context.ts';
import { askPermission, readRepositoryConfig } from './ask-permission.ts';
import { hashRequest } from './constraint-request.ts';
import { findSame, requestRun, runsOfSource } from './request-run.ts';
import { issueScope } from './run-view.ts';

type IssueIntent = Intent & { readonly kind: 'consider-issue' };

/** An issue that may ask for an engine: opened, edited, reopened, or approved by a label. */
export async function handleIssue(
  context: AppContext,
  intent: IssueIntent,
  deliveryId: string,
): Promise<Handled> {
  const block = findConstraintBlock(intent.body);
  if (block.kind === 'none') return ignored('no constraint file in the body');
  const client = clientOf(context, intent.repository);
  if (intent.reason !== 'labeled' && (await isOutdated(client, intent)))
    return ignored('edited since: the newer delivery decides');
  if (block.kind === 'several') {
    if (intent.reason === 'labeled') return ignored('several constraint files');
    const once = { scope: issueScope(intent.repository, intent.issue), key: 'status' };
    await client.upsertComment(once, intent.issue, renderSeveralBlocks(block.firstLines));
    return done('several constraint files');
  }
  if (intent.reason === 'labeled') {
    return intent.label?.toLowerCase() === approvedLabel
      ? approve(context, intent, block.text, deliveryId)
      : ignored(`label ${intent.label}`);
  }
  const request = {
    repository: intent.repository,
    source: { kind: 'issue', number: intent.issue, path: null, firstLine: block.firstLine },
    actor: intent.actor,
    text: block.text,
    holdAfterPlan: false,
  } as const;
  const same = await findSame(context, request);
  if (same !== undefined) return ignored(`asks for the same as run ${same.number}`);
  const refusal = await findRefusal(context, intent);
  if (refusal !== undefined) {
    await client.react({ kind: 'issue', number: intent.issue }, '-1');
    // Once for each person and issue, however often they edit.
    const once = { scope: issueScope(intent.repository, intent.issue), key: `refusal:${intent.actor.id}` };
    await client.createComment(once, intent.issue, refusal);
    return done('refused');
  }
  const { run, isNew } = await requestRun(context, request);
  if (!isNew) return ignored(`asks for the same as run ${run.number}`);
  await client.react({ kind: 'issue', number: intent.issue }, 'eyes');
  return done(`run ${run.number}`);
}

/** Deliveries come in any order: an edit that another one has overtaken must not have the last word. */
async function isOutdated(client: RepositoryClient, intent: IssueIntent): Promise<boolean> {
  const { body } = await client.readIssue(intent.issue);
  const normal = (text: string) => text.replaceAll('\r\n', '\n').trimEnd();
  return normal(body) !== normal(intent.body);
}

async function findRefusal(context: AppContext, intent: IssueIntent): Promise<string | undefined> {
  const { repository, actor } = intent;
  const answer = await askPermission(context, { repository, actor, capability: 'plan', isApproved: false });
  if (!answer.allowed) return renderRefusal(answer.message);
  return exceedsDailyLimit(context, intent);
}

/** The text to answer with where a person has had their runs of the day. */
export async function exceedsDailyLimit(
  context: AppContext,
  { repository, actor }: Pick<IssueIntent, 'repository' | 'actor'>,
): Promise<string | undefined> {
  const { limits } = await readRepositoryConfig(context, repository);
  const since = new Date(context.now().getTime() - 24 * 3600 * 1000);
  const begun = await context.store.countRuns(repository.id, actor.id, since);
  return begun >= limits.runs_per_actor_per_day ? renderDailyLimit(limits.runs_per_actor_per_day) : undefined;
}

/** The label lets one constraint hash through, and only from somebody who may generate themselves. */
async function approve(
  context: AppContext,
  intent: IssueIntent,
  text: string,
  deliveryId: string,
): Promise<Handled> {
  const { repository, actor, issue } = intent;
  const client = clientOf(context, repository);
  for (const capability of ['generate', 'runner'] as const) {
    const answer = await askPermission(context, { repository, actor, capability, isApproved: false });
    if (answer.allowed) continue;
    const { allow } = await readRepositoryConfig(context, repository);
    const body = renderLabelRefused(approvedLabel, actor.login, allow[capability]);
    await client.createComment({ scope: deliveryId, key: 'label-refused' }, issue, body);
    return done('label refused');
  }
  const hash = hashRequest(context, text);
  await context.store.addApproval(repository.id, issue, hash, actor);
  const [run] = await runsOfSource(context, repository, { kind: 'issue', number: issue, path: null });
  if (run === undefined || hashRequest(context, run.state.input.text) !== hash)
    return done('approved; no run waits');
  await context.store.moveRun(
    run.id,
    { type: 'approved' },
    (current) => current.state.waitingFor === 'approval',
  );
  return done(`approved run ${run.number}`);
}
