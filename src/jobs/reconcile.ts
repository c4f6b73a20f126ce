import type { RunRecord } from '../model/run-record.ts';
import type { AppContext } from './app-context.ts';
import { reconcileWorkflow } from './reconcile-workflow.ts';

const firstSweepHours = 72;
const laterSweepMinutes = 30;
/** A delivery younger than this may still be on its way. */
const settleSeconds = 60;
const mostRedeliveries = 3;

/** What this instance remembers between two reconciliations; losing it costs a few reads. */
export interface ReconcileMemory {
  hasSwept: boolean;
  readonly redelivered: Map<string, number>;
}

/**
 * Compares what we believe with what GitHub says: webhooks that never arrived are asked for again, workflow runs that
 * ended unseen are taken up, queued jobs that nobody serves are told, and every ready run has a job.
 */
export async function reconcile(
  context: AppContext,
  memory: ReconcileMemory,
  signal: AbortSignal,
): Promise<void> {
  await sweepDeliveries(context, memory);
  const open = await context.store.listRuns({ isOpen: true, limit: 1000 });
  for (const run of open.filter(({ state }) => state.waitingFor === 'workflow')) {
    signal.throwIfAborted();
    await guarded(context, run, () => reconcileWorkflow(context, run));
  }
  const ready = new Set(
    open.filter(({ state }) => state.status === 'running').map(({ repository }) => repository.id),
  );
  for (const repositoryId of ready) await context.queues.sendStep(repositoryId);
}

/** GitHub never sends a failed delivery again by itself; it keeps a log for three days. */
async function sweepDeliveries(context: AppContext, memory: ReconcileMemory): Promise<void> {
  const now = context.now().getTime();
  const reach = memory.hasSwept ? laterSweepMinutes * 60_000 : firstSweepHours * 3_600_000;
  const settled = new Date(now - settleSeconds * 1000);
  const seen = new Set<string>();
  for (const delivery of await context.app.listDeliveries(new Date(now - reach))) {
    if (seen.has(delivery.guid) || delivery.deliveredAt > settled) continue;
    seen.add(delivery.guid);
    const tries = memory.redelivered.get(delivery.guid) ?? 0;
    if (tries >= mostRedeliveries || (await context.store.hasDelivery(delivery.guid))) continue;
    memory.redelivered.set(delivery.guid, tries + 1);
    context.log.info({ guid: delivery.guid, event: delivery.event }, 'asking for a lost delivery');
    await context.app.redeliver(delivery.id);
  }
  memory.hasSwept = true;
}

/** One repository that does not answer must not keep the others from being looked at. */
async function guarded(context: AppContext, run: RunRecord, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    context.log.warn({ err: error, run: run.number }, 'could not reconcile a run');
  }
}
