import {
  renderAlreadyPassed,
  renderHeld,
  renderNoBlock,
  renderNothingToBench,
  renderNothingToRepeat,
  renderNothingToStop,
  renderUnderWay,
} from '../delivery/intake-texts.ts';
import { renderRefusal, renderStatusReply } from '../delivery/replies.ts';
import type { SetupProblem } from '../delivery/setup-texts.ts';
import type { Intent } from '../model/github.ts';
import type { RunRecord } from '../model/run-record.ts';
import { isOpen } from '../pipeline.ts';
import type { AppContext } from './app-context.ts';
import { askPermission } from './ask-permission.ts';
import { chooseBase } from './choose-base.ts';
import type { Target } from './command-target.ts';
import type { CommandOutcome } from './handle-command.ts';
import { findSetupProblems, setupPlace } from './preflight.ts';
import { requestRun, stopRun } from './request-run.ts';
import { makeRunView } from './run-view.ts';
import { requireNeed } from './steps/dispatch.ts';

type CommandIntent = Intent & { readonly kind: 'command' };
type Arguments = Readonly<Record<string, string>>;

export async function doStatus(
  context: AppContext,
  intent: CommandIntent,
  { newest }: Target,
): Promise<CommandOutcome> {
  const { repository, place } = intent;
  const problems = [
    ...(await findSetupProblems(context, repository)),
    ...(newest === undefined ? [] : await findUnserved(context, newest)),
  ];
  const runs = newest === undefined ? [] : await findSiblings(context, newest, place.number);
  const views = await Promise.all(runs.map((run) => makeRunView(context, run)));
  return { reaction: '+1', text: renderStatusReply(views, problems, setupPlace(context, repository)) };
}

/** A job for this run would wait for labels that no runner has served lately. */
async function findUnserved(context: AppContext, run: RunRecord): Promise<readonly SetupProblem[]> {
  if (run.state.constraints === undefined) return [];
  const { labels, isServed, seenRunners } = await requireNeed(context, run);
  return isServed ? [] : [{ kind: 'labels-unserved', labels, seenRunners }];
}

/** The runs of the same place, newest first; on an engine's pull request the one that made it. */
async function findSiblings(
  context: AppContext,
  newest: RunRecord,
  number: number,
): Promise<readonly RunRecord[]> {
  const { repository, source } = newest;
  if (source.number !== number) return [newest];
  return context.store.listRuns({
    ...{ repositoryId: repository.id, sourceKind: source.kind, sourceNumber: source.number, limit: 5 },
  });
}

export async function doPlan(
  context: AppContext,
  intent: CommandIntent,
  target: Target,
): Promise<CommandOutcome> {
  if (target.request === undefined) return { reaction: 'confused', text: renderNoBlock() };
  const { run, isNew } = await requestRun(context, {
    ...{ repository: intent.repository, actor: intent.actor, holdAfterPlan: true },
    ...target.request,
  });
  if (isNew) return { reaction: 'rocket' };
  const view = await makeRunView(context, run);
  const place = setupPlace(context, intent.repository);
  return { reaction: '+1', text: renderStatusReply([view], null, place) };
}

export async function doGenerate(
  context: AppContext,
  intent: CommandIntent,
  target: Target,
): Promise<CommandOutcome> {
  if (target.request === undefined) {
    return target.newest === undefined
      ? { reaction: 'confused', text: renderNoBlock() }
      : goOn(context, intent, target.newest);
  }
  const { run, isNew } = await requestRun(context, {
    ...{ repository: intent.repository, actor: intent.actor, holdAfterPlan: false },
    isAnew: await isKnowledgeNewer(context, target.newest),
    ...target.request,
  });
  return isNew ? { reaction: 'rocket' } : goOn(context, intent, run);
}

/** A run that did not pass with the knowledge of its time is worth making anew with today's; repeating it is not. */
async function isKnowledgeNewer(context: AppContext, run: RunRecord | undefined): Promise<boolean> {
  if (run?.state.status !== 'failed' && run?.state.status !== 'unverified') return false;
  const plan = await context.store.readDocument(run.id, 'plan');
  return plan !== undefined && plan.catalogSha256 !== context.catalog.sha256;
}

/** Generation for a run that is there already: approved, under way, done, or to be tried again. */
async function goOn(
  context: AppContext,
  { repository, actor }: CommandIntent,
  run: RunRecord,
): Promise<CommandOutcome> {
  const { state } = run;
  if (state.waitingFor === 'approval') {
    // A fork is refused here, with its reason, not after the work is done.
    await chooseBase(context, run);
    const moved = await context.store.moveRun(
      run.id,
      { type: 'approved' },
      (current) => current.state.waitingFor === 'approval',
    );
    if (moved !== undefined) return { reaction: 'rocket' };
  }
  const { links } = await makeRunView(context, run);
  if (isOpen(state)) return { reaction: '+1', text: renderUnderWay(run.number, links.dashboard) };
  if (state.status === 'passed') return { reaction: '+1', text: renderAlreadyPassed(run.number, links.pull) };
  const answer = await askPermission(context, { repository, actor, capability: 'runner', isApproved: false });
  return answer.allowed ? repeat(context, run) : { reaction: '-1', text: renderRefusal(answer.message) };
}

export async function doRetry(
  context: AppContext,
  _: CommandIntent,
  { newest }: Target,
): Promise<CommandOutcome> {
  if (newest === undefined) return { reaction: 'confused', text: renderNothingToRepeat() };
  if (newest.state.waitingFor === 'approval') return { reaction: '+1', text: renderHeld() };
  if (!isOpen(newest.state)) return repeat(context, newest);
  const { links } = await makeRunView(context, newest);
  return { reaction: '+1', text: renderUnderWay(newest.number, links.dashboard) };
}

/** A new dispatch of the published engine, or the whole run anew where nothing was published. */
export async function repeat(
  context: AppContext,
  run: RunRecord,
  baseline?: 'llama.cpp' | 'none',
): Promise<CommandOutcome> {
  const moved = await context.store.moveRun(
    run.id,
    { type: 'retried', ...(baseline === undefined ? {} : { baseline }) },
    (current) => !isOpen(current.state),
  );
  return moved === undefined ? { reaction: '+1' } : { reaction: 'rocket' };
}

export async function doBench(
  context: AppContext,
  _: CommandIntent,
  { newest }: Target,
  given: Arguments,
): Promise<CommandOutcome> {
  if (newest === undefined || newest.state.github?.requestId === undefined)
    return { reaction: 'confused', text: renderNothingToBench() };
  if (isOpen(newest.state)) {
    const { links } = await makeRunView(context, newest);
    return { reaction: '+1', text: renderUnderWay(newest.number, links.dashboard) };
  }
  return repeat(context, newest, given.baseline === 'none' ? 'none' : 'llama.cpp');
}

export async function doCancel(
  context: AppContext,
  intent: CommandIntent,
  { newest }: Target,
): Promise<CommandOutcome> {
  if (newest === undefined || !isOpen(newest.state))
    return { reaction: 'confused', text: renderNothingToStop() };
  await context.store.addTimeline(newest.id, {
    kind: 'person',
    text: `@${intent.actor.login} cancelled the run`,
    url: null,
  });
  await stopRun(context, newest, null);
  return { reaction: '+1' };
}
