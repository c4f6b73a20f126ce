import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { parse } from 'yaml';
import { readRunnerLabels } from '../../adapters/runner/runner-labels.ts';
import { renderWorkflow, workflowPath } from '../../adapters/runner/workflow-text.ts';
import { type RunningApp, startApp } from '../../app.ts';
import type { Config } from '../../config.ts';
import { demoModel } from '../../local/demo/demo-request.ts';
import { findFreePort } from '../../local/demo/free-port.ts';
import { type AppManifest, type DemoSeed, seedDemo } from '../../local/demo/seed-demo.ts';
import { type LocalGitHub, startLocalGitHub } from '../../local/github/local-github.ts';
import { runnerToken } from '../../local/github/runner-state.ts';
import { type StartedRunner, startLocalRunner } from '../../local/runner/start-local-runner.ts';
import { packageRoot } from '../../preparation/package-root.ts';

export interface AppDemo {
  readonly github: LocalGitHub;
  readonly app: RunningApp;
  readonly seed: DemoSeed;
  stop(): Promise<void>;
}

export interface AppDemoEvents {
  /** A webhook that the local GitHub sent. */
  readonly onWebhook: (event: string, payload: Readonly<Record<string, unknown>>) => void;
  readonly onRunner: (line: string) => void;
}

const homeRepository = 'metainfer/metainfer-bot';

/**
 * The whole product on free ports of this machine: a local GitHub with one repository, the app as it runs in
 * production (PGlite, signed webhooks, GitHub's spacing of writes), and a runner as a process of its own.
 */
export async function startAppDemo(config: Config, events: AppDemoEvents): Promise<AppDemo> {
  const folder = await mkdtemp(join(tmpdir(), 'metainfer-demo-'));
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const home = { repository: homeRepository, sha: await readOwnCommit() };
    const github = await startLocalGitHub();
    github.observe({
      onDelivery: ({ event, payload }) => events.onWebhook(event, payload as Record<string, unknown>),
    });
    stops.push(() => github.stop());
    const port = await findFreePort();
    const seed = await seedDemo(github, {
      manifest: await readManifest(),
      workflow: {
        path: workflowPath,
        text: renderWorkflow({ homeRepository: home.repository, homeSha: home.sha }),
      },
      webhookUrl: `http://127.0.0.1:${port}/api/github/webhooks`,
    });
    const log = pino({ level: 'warn' }, pino.destination({ dest: join(folder, 'app.log'), sync: true }));
    const app = await startApp(
      {
        ...seed.app,
        ...{ host: '127.0.0.1', port, publicUrl: 'listening', home, cacheFolder: config.cacheFolder },
        database: { kind: 'embedded', folder: join(folder, 'database'), cacheFolder: config.cacheFolder },
        ...{ githubUrl: github.url, apiUrl: github.apiUrl, operatorToken: undefined },
        ...{ writeSpacing: 'github', instance: 'demo' },
      },
      log,
    );
    stops.push(() => app.stop(10));
    seed.install();
    const runner = await startRunner(folder, github, config, events);
    stops.push(() => runner.stop());
    return { github, app, seed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The runner's operator keeps the demo's checkpoint under the model's id. */
async function startRunner(
  folder: string,
  github: LocalGitHub,
  config: Config,
  events: AppDemoEvents,
): Promise<StartedRunner> {
  const weightsFolder = join(folder, 'weights');
  await mkdir(join(weightsFolder, 'metainfer'), { recursive: true });
  await cp(join(packageRoot(), demoModel.folder), join(weightsFolder, demoModel.id), { recursive: true });
  const labels = await readRunnerLabels(join(packageRoot(), 'runner-config/labels.yaml'));
  return startLocalRunner({
    url: github.url,
    token: runnerToken(github.world),
    name: 'local-runner-1',
    labels: labels['cpu-x86_64']!.avx2!,
    workFolder: join(folder, 'runner'),
    weightsFolder,
    cacheFolder: config.cacheFolder,
    sandbox: config.sandbox,
    onLine: events.onRunner,
  });
}

async function readManifest(): Promise<AppManifest> {
  const manifest = parse(await readFile(join(packageRoot(), 'app.yml'), 'utf8')) as {
    name: string;
    default_permissions: Record<string, string>;
    default_events: string[];
  };
  return {
    name: manifest.name,
    permissions: manifest.default_permissions,
    events: manifest.default_events,
  };
}

/** Which commit of the harness the workflow file pins; a copy without git history pins none that exists. */
async function readOwnCommit(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', 'HEAD'], { cwd: packageRoot() });
    return stdout.trim();
  } catch {
    return '0'.repeat(40);
  }
}
