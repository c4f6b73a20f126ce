import type { Intent } from '../model/github.ts';
import type { RunSource } from '../model/run-record.ts';
import { isOpen } from '../pipeline.ts';
import { done, type Handled, ignored } from './answer.ts';
import { type AppContext, clientOf } from './app-context.ts';
import { askPermission } from './ask-permission.ts';
import { exceedsDailyLimit } from './handle-issue.ts';
import { requestRun, stopRun } from './request-run.ts';

type PullIntent = Intent & { readonly kind: 'consider-pull' };

/** A constraint file by its place: `constraints/x.yaml` anywhere in the tree, or `x.metainfer.yaml`. */
const constraintPath = /(?:^|\/)constraints\/[^/]+\.ya?ml$|\.metainfer\.ya?ml$/;
/** A pull request that changes more of them is about something else than asking for engines. */
const mostFiles = 5;
/** Engines' own copies are the bot's. */
const enginePath = /^engines\//;

/** A pull request that adds or changes constraint files: one run for each of them. */
export async function handlePull(context: AppContext, intent: PullIntent): Promise<Handled> {
  const { repository, pull } = intent;
  if (intent.headRef.startsWith('metainfer/')) return ignored("an engine's own pull request");
  const client = clientOf(context, repository);
  // Deliveries come in any order: the one about the head decides.
  if ((await client.readPull(pull)).headSha !== intent.headSha) return ignored('pushed to since');
  const files = (await client.listPullFiles(pull)).filter(
    ({ path, status }) => status !== 'removed' && constraintPath.test(path) && !enginePath.test(path),
  );
  if (files.length === 0) return ignored('no constraint file in the pull request');
  const answer = await askPermission(context, {
    ...{ repository, actor: intent.actor, capability: 'plan' as const, isApproved: false },
  });
  if (!answer.allowed) return ignored(answer.message);
  if ((await exceedsDailyLimit(context, intent)) !== undefined) return ignored('daily limit');
  const numbers: number[] = [];
  for (const { path } of files.slice(0, mostFiles)) {
    const number = await considerFile(context, intent, path);
    if (number !== undefined) numbers.push(number);
  }
  return numbers.length > 0 ? done(`runs ${numbers.join(', ')}`) : ignored('nothing changed');
}

async function considerFile(
  context: AppContext,
  intent: PullIntent,
  path: string,
): Promise<number | undefined> {
  const { repository, pull, headSha } = intent;
  const text = await clientOf(context, repository).readFile(path, headSha);
  if (text === undefined) return undefined;
  const source: RunSource = { kind: 'pull', number: pull, path, firstLine: 1 };
  // Drafts, forks and bots get a plan; what they ask for is not made yet.
  const holdAfterPlan = intent.isDraft || intent.isFork || intent.actor.isBot;
  const { run, isNew } = await requestRun(context, {
    ...{ repository, source, actor: intent.actor, text, holdAfterPlan },
  });
  if (isNew) return run.number;
  if (intent.reason !== 'ready_for_review' || holdAfterPlan) return undefined;
  return (await letThrough(context, intent, run.id)) ? run.number : undefined;
}

/** A draft that became ready goes on, where the person who made it so may generate. */
async function letThrough(context: AppContext, intent: PullIntent, runId: string): Promise<boolean> {
  const { repository, actor } = intent;
  for (const capability of ['generate', 'runner'] as const) {
    const answer = await askPermission(context, { repository, actor, capability, isApproved: false });
    if (!answer.allowed) return false;
  }
  const moved = await context.store.moveRun(
    runId,
    { type: 'approved' },
    (run) => run.state.waitingFor === 'approval',
  );
  return moved !== undefined;
}

/** Closing a pull request ends what it asked for; merging it does not, and neither does closing an engine's own. */
export async function handlePullClosed(
  context: AppContext,
  intent: Intent & { readonly kind: 'pull-closed' },
): Promise<Handled> {
  const { repository, pull, isMerged } = intent;
  const engineRun = await context.store.findRunByPull(repository.id, pull);
  if (engineRun !== undefined) {
    const text = isMerged ? `pull request #${pull} was merged` : `pull request #${pull} was closed`;
    await context.store.addTimeline(engineRun.id, { kind: 'person', text, url: null });
    if (!isMerged && isOpen(engineRun.state)) await stopRun(context, engineRun, null);
    return done(text);
  }
  if (isMerged) return ignored('merged');
  const runs = await context.store.listRuns({
    ...{ repositoryId: repository.id, sourceKind: 'pull' as const, sourceNumber: pull, isOpen: true },
  });
  for (const run of runs) await stopRun(context, run, null);
  return runs.length > 0 ? done(`${runs.length} runs cancelled`) : ignored('nothing under way');
}
