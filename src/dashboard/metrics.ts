import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Store } from '../adapters/store/store.ts';

/** Requests of the app to GitHub since its start. */
export type RequestCounts = Readonly<Record<'reads' | 'writes' | 'notifying', number>>;

/** What the app counts while it works; the rest of /metrics is asked of the store when it is read. */
export interface Metrics {
  /** Seconds from the arrival of a delivery to its acknowledgement. */
  observeAcknowledgement(seconds: number): void;
  /** Seconds that one step of a run took, whatever came of it. */
  observeStep(step: string, outcome: 'done' | 'postponed' | 'failed' | 'cancelled', seconds: number): void;
  /** Everything in the text format of Prometheus. @throws what the store throws */
  render(): Promise<string>;
  readonly contentType: string;
}

/** Metrics of one app instance, in a registry of their own. No label holds a name of a person or a repository. */
export function createMetrics(store: Pick<Store, 'counts'>, requestCounts: RequestCounts): Metrics {
  const registers = [new Registry()];
  collectDefaultMetrics({ register: registers[0]! });
  const acknowledgement = new Histogram({
    name: 'metainfer_webhook_acknowledgement_seconds',
    help: 'From the arrival of a webhook delivery to its acknowledgement.',
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
    registers,
  });
  const requests = new Counter({
    name: 'metainfer_github_requests_total',
    help: 'Requests to GitHub; notifying ones are writes too.',
    labelNames: ['kind'],
    registers,
  });
  const steps = new Histogram({
    name: 'metainfer_step_seconds',
    help: 'How long steps of runs take.',
    labelNames: ['step', 'outcome'],
    buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300],
    registers,
  });
  const counted = createStoreGauges(registers);
  return {
    observeAcknowledgement: (seconds) => acknowledgement.observe(seconds),
    observeStep: (step, outcome, seconds) => steps.observe({ step, outcome }, seconds),
    async render() {
      counted.set(await store.counts());
      requests.reset();
      for (const [kind, count] of Object.entries(requestCounts)) requests.inc({ kind }, count);
      return await registers[0]!.metrics();
    },
    contentType: registers[0]!.contentType,
  };
}

function createStoreGauges(registers: Registry[]) {
  const runs = new Gauge({
    name: 'metainfer_runs',
    help: 'Runs by status.',
    labelNames: ['status'],
    registers,
  });
  const deliveries = new Gauge({
    name: 'metainfer_deliveries',
    help: 'Webhook deliveries that are kept, by what became of them.',
    labelNames: ['outcome'],
    registers,
  });
  const jobs = new Gauge({
    name: 'metainfer_jobs',
    help: 'Jobs by queue and state.',
    labelNames: ['queue', 'state'],
    registers,
  });
  return {
    /** Starts from nothing: a state that no row has any more must not keep its last count. */
    set(counts: Awaited<ReturnType<Store['counts']>>): void {
      for (const gauge of [runs, deliveries, jobs]) gauge.reset();
      for (const [status, count] of Object.entries(counts.runs)) runs.set({ status }, count);
      for (const [outcome, count] of Object.entries(counts.deliveries)) deliveries.set({ outcome }, count);
      for (const [queue, states] of Object.entries(counts.queues)) {
        for (const [state, count] of Object.entries(states)) jobs.set({ queue, state }, count);
      }
    },
  };
}
