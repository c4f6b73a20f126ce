import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import { demoModel, readDemoConstraints, writeIssueBody } from '../../src/local/demo/demo-request.ts';
import { runnerToken } from '../../src/local/github/runner-state.ts';
import { type StartedRunner, startLocalRunner } from '../../src/local/runner/start-local-runner.ts';
import { isOpen } from '../../src/pipeline.ts';
import { knowledgeRoot } from '../../src/preparation/knowledge-base.ts';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { type BotWorld, eventually, log, startBotWorld } from '../support/bot-world.ts';
import { verdictSeconds } from '../support/sabotaged-world.ts';

const harness = fileURLToPath(new URL('../support/harness-with-knowledge.ts', import.meta.url));

describe('a CUDA engine that the real harness judges on a machine without a GPU', () => {
  let world: BotWorld;
  let app: RunningApp;
  let runner: StartedRunner;

  beforeAll(async () => {
    world = await startBotWorld();
    app = await startApp(world.settings, log);
    const weightsFolder = join(world.folder, 'weights');
    cpSync(join(packageRoot(), demoModel.folder), join(weightsFolder, demoModel.id), { recursive: true });
    runner = startLocalRunner({
      ...{ url: world.github.url, token: runnerToken(world.github.world), name: 'compile-box' },
      labels: ['self-hosted', 'linux', 'x64', 'gpu', 'metainfer-cuda-sm-90'],
      ...{ workFolder: join(world.folder, 'runner'), weightsFolder },
      cacheFolder: world.settings.cacheFolder,
      harness: [process.execPath, '--import', import.meta.resolve('tsx'), harness, knowledgeRoot()],
    });
  });
  afterAll(async () => {
    await runner.stop();
    await app.stop(5);
    await world.stop();
  });

  it(
    'is compiled for every arch, checked in host emulation, and called not run on a device',
    async () => {
      const body = writeIssueBody(await readDemoConstraints('tiny-qwen3-cuda'));
      await world.ada('POST', `${world.repository}/issues`, { title: 'tiny on a GPU', body });
      const run = await eventually(
        'the verdict',
        async () => {
          const [found] = await app.store.listRuns({ limit: 1 });
          return found !== undefined && !isOpen(found.state) ? found : undefined;
        },
        2 * verdictSeconds,
      );
      expect([run.state.failure, run.state.status]).toEqual([undefined, 'unverified']);
      const report = (await app.store.readDocument(run.id, 'report'))!;
      expect(report.verdict).toBe('not-run-on-device');
      expect(report.environment.cuda).toMatchObject({ device: null });
      const statusOf = (name: string) => report.gates.find(({ gate }) => gate === name);
      expect(statusOf('build')).toMatchObject({ status: 'passed' });
      expect(statusOf('unit')).toMatchObject({ status: 'passed', ranOn: 'emulation' });
      for (const name of ['bench', 'physics']) expect(statusOf(name)).toMatchObject({ status: 'not-run' });
      expect(report.gates.flatMap(({ findings }) => findings)).toEqual([]);

      const { checkRunId, pullNumber } = run.state.github!;
      const { body: check } = await world.ada('GET', `${world.repository}/check-runs/${checkRunId}`);
      expect([check.conclusion, check.output.title]).toEqual(['neutral', 'Not run on a device']);
      const { body: reviews } = await world.ada('GET', `${world.repository}/pulls/${pullNumber}/reviews`);
      expect(reviews[0].body).toContain('host emulation: arithmetic only');
      const { body: pull } = await world.ada('GET', `${world.repository}/pulls/${pullNumber}`);
      expect(pull.draft).toBe(true);
      expect(world.watch.problems).toEqual([]);
    },
    2 * verdictSeconds * 1000 + 60_000,
  );
});
