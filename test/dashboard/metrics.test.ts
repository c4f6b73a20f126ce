import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/dashboard/metrics.ts';
import { serveDashboard } from './dashboard-server.ts';
import { storeOf } from './sample-runs.ts';

/** Samples of the text format by series, as a scraper reads them. Throws on a line that is neither comment nor sample. */
function readSamples(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))) {
    const match =
      /^([a-zA-Z_:][\w:]*(?:\{(?:\w+="(?:[^"\\\n]|\\.)*",?)*\})?) (-?[\d.eE+-]+|Nan|[+-]Inf)(?: \d+)?$/.exec(
        line,
      );
    if (match === null) throw new Error(`not a sample: ${line}`);
    samples.set(match[1]!, Number(match[2]));
  }
  return samples;
}

const noRequests = { reads: 0, writes: 0, notifying: 0 };

describe('metrics', () => {
  it('count runs, deliveries and jobs as the store has them, and what the app did', async () => {
    const requests = { reads: 1, writes: 2, notifying: 0 };
    const metrics = createMetrics(storeOf([]), requests);
    await metrics.render();
    requests.notifying = 2;
    metrics.observeAcknowledgement(0.007);
    metrics.observeStep('generate', 'done', 4);
    const samples = readSamples(await metrics.render());
    expect(samples.get('metainfer_runs{status="passed"}')).toBe(3);
    expect(samples.get('metainfer_deliveries{outcome="duplicate"}')).toBe(1);
    expect(samples.get('metainfer_jobs{queue="steps",state="active"}')).toBe(1);
    expect(samples.get('metainfer_github_requests_total{kind="notifying"}')).toBe(2);
    expect(samples.get('metainfer_github_requests_total{kind="reads"}')).toBe(1);
    expect(samples.get('metainfer_webhook_acknowledgement_seconds_bucket{le="0.005"}')).toBe(0);
    expect(samples.get('metainfer_webhook_acknowledgement_seconds_bucket{le="0.01"}')).toBe(1);
    expect(samples.get('metainfer_step_seconds_count{step="generate",outcome="done"}')).toBe(1);
  });

  it('forget a state that no row has any more', async () => {
    const store = storeOf([]);
    let runs: Record<string, number> = { running: 2 };
    const metrics = createMetrics({ counts: async () => ({ ...(await store.counts()), runs }) }, noRequests);
    expect(readSamples(await metrics.render()).get('metainfer_runs{status="running"}')).toBe(2);
    runs = { passed: 2 };
    const later = readSamples(await metrics.render());
    expect([
      later.has('metainfer_runs{status="running"}'),
      later.get('metainfer_runs{status="passed"}'),
    ]).toEqual([false, 2]);
  });

  it('of two app instances in one process are apart', async () => {
    const [first, second] = [createMetrics(storeOf([]), noRequests), createMetrics(storeOf([]), noRequests)];
    first.observeAcknowledgement(1);
    expect(await first.render()).toContain('metainfer_webhook_acknowledgement_seconds_count 1');
    expect(await second.render()).toContain('metainfer_webhook_acknowledgement_seconds_count 0');
  });

  it('are served in the text format', async () => {
    const server = await serveDashboard([]);
    const response = await server.get('/metrics');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=/);
    expect(readSamples(await response.text()).size).toBeGreaterThan(20);
    await server.close();
  });
});
