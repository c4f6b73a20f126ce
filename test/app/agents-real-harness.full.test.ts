import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoModel } from '../../src/local/demo/demo-request.ts';
import { runnerToken } from '../../src/local/github/runner-state.ts';
import { type StartedRunner, startLocalRunner } from '../../src/local/runner/start-local-runner.ts';
import type { RunRecord } from '../../src/model/run-record.ts';
import { isOpen } from '../../src/pipeline.ts';
import { knowledgeRoot } from '../../src/preparation/knowledge-base.ts';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { eventually } from '../support/bot-world.ts';
import { type AgentWorld, startAgentWorld } from './agent-world.ts';

/** Two engines are built twice each, and asked a thousand questions. */
const seconds = 1800;

describe('an engine that agents write, judged by the real harness', () => {
  let agents: AgentWorld;
  let runner: StartedRunner;
  let run: RunRecord;

  beforeAll(
    async () => {
      const mistake = { find: 'mean + config::rms_norm_eps', replace: 'mean + 2.0f * config::rms_norm_eps' };
      agents = await startAgentWorld({
        replies: { contracts: { 'norm.rms': [{ edits: [mistake] }, 'right'] } },
      });
      const { github, folder, settings } = agents.world;
      const weights = join(folder, 'weights');
      mkdirSync(join(weights, demoModel.id), { recursive: true });
      cpSync(join(packageRoot(), demoModel.folder), join(weights, demoModel.id), { recursive: true });
      runner = startLocalRunner({
        ...{ url: github.url, token: runnerToken(github.world), name: 'real-runner' },
        labels: ['self-hosted', 'linux', 'x64', 'metainfer-cpu-avx2'],
        ...{ workFolder: join(folder, 'runner'), weightsFolder: weights, cacheFolder: settings.cacheFolder },
        harness: [
          ...[process.execPath, '--import', import.meta.resolve('tsx')],
          ...[
            fileURLToPath(new URL('../support/harness-with-knowledge.ts', import.meta.url)),
            knowledgeRoot(),
          ],
        ],
      });
      // Speed beside llama.cpp is another test's matter: this harness times nothing beside it.
      await agents.ask('judged', [[/^ {2}require:\n.*\n/m, '']]);
      run = await eventually(
        'the verdict',
        async () => {
          const [found] = await agents.app.store.listRuns({ limit: 1 });
          return found !== undefined && !isOpen(found.state) ? found : undefined;
        },
        seconds,
      );
    },
    (seconds + 200) * 1000,
  );

  afterAll(async () => {
    await runner.stop();
    await agents.stop();
  });

  it('is repaired by what the unit gate found, and passes every gate', async () => {
    const attempts = await agents.app.store.readAttempts(run.id);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['failed: unit', 'passed']);
    expect([run.state.status, run.state.failure]).toEqual(['passed', undefined]);
    const report = (await agents.app.store.readDocument(run.id, 'report'))!;
    expect(report.environment.protection.sandbox).toBe('bubblewrap');
    expect(report.gates.filter(({ status }) => status === 'failed')).toEqual([]);
    expect(report.generation?.rejections).toEqual({ unit: 1 });
    expect(report.generation?.linesByAgents).toBeGreaterThan(1500);
  });
});
