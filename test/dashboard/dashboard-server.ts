import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDashboard, type DashboardOptions } from '../../src/dashboard/dashboard.ts';
import { createMetrics } from '../../src/dashboard/metrics.ts';
import type { SampleRun } from './sample-runs.ts';
import { storeOf } from './sample-runs.ts';

/** The dashboard on a free port; what it does not know answers 404 `next`. */
export async function serveDashboard(samples: readonly SampleRun[], changes: Partial<DashboardOptions> = {}) {
  const store = storeOf(samples);
  const logged: unknown[] = [];
  const dashboard = createDashboard({
    store,
    metrics: createMetrics(store, { reads: 0, writes: 0, notifying: 0 }),
    githubUrl: 'https://github.com',
    operatorToken: undefined,
    renderPlot: async (report) =>
      `<svg xmlns="http://www.w3.org/2000/svg"><title>${report.engine.name}</title></svg>`,
    renderPlan: (plan) => `## Plan: ${plan.name}\n\n| a | b |\n|---|---|\n| <b>1</b> | 2 |\n`,
    knowledge: {
      coverage: () => Promise.reject(new Error('no knowledge here')),
      graph: () => Promise.reject(new Error('no knowledge here')),
      drawGraph: () => Promise.reject(new Error('no knowledge here')),
      explain: () => Promise.reject(new Error('no knowledge here')),
    },
    isReady: () => true,
    log: { error: (...entry: unknown[]) => void logged.push(entry) },
    ...changes,
  });
  const server = createServer(async (request, response) => {
    if (!(await dashboard(request, response))) response.writeHead(404).end('next');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    logged,
    get: (path: string, init?: RequestInit) => fetch(url + path, { redirect: 'manual', ...init }),
    text: async (path: string, init?: RequestInit) => (await fetch(url + path, init)).text(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
