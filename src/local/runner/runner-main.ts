import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { runJob } from './run-job.ts';
import { createRunnerClient, type RunnerClient } from './runner-client.ts';
import { RunnerSettings } from './runner-settings.ts';

// The local runner: a process of its own that polls the local GitHub for jobs with its labels. Settings come as the
// first line of stdin; when stdin ends, so does the runner.

const pollMilliseconds = 250;
const shutdown = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => shutdown.abort());

async function readSettings(): Promise<RunnerSettings> {
  const lines = createInterface({ input: process.stdin });
  const first = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    lines.once('close', () => {
      shutdown.abort();
      reject(new Error('No settings came on stdin.'));
    });
  });
  return RunnerSettings.parse(JSON.parse(first));
}

async function takeJobs(settings: RunnerSettings, client: RunnerClient, runnerId: number): Promise<void> {
  while (!shutdown.signal.aborted) {
    const job = await client.claim(runnerId);
    if (job === undefined) {
      await pause(pollMilliseconds, undefined, { signal: shutdown.signal }).catch(() => {});
      continue;
    }
    const { request_id, engine_path } = job.inputs;
    console.log(`${settings.name}: took ${request_id} (${engine_path})`);
    const conclusion = await runJob(job, client, settings, shutdown.signal);
    console.log(`${settings.name}: ${request_id} ended: ${conclusion}`);
  }
}

try {
  const settings = await readSettings();
  await mkdir(settings.workFolder, { recursive: true });
  const client = createRunnerClient(settings.url, settings.token);
  const runnerId = await client.register(settings.name, settings.labels);
  console.log(`${settings.name}: waits for jobs with ${settings.labels.join(', ')}`);
  await takeJobs(settings, client, runnerId);
} catch (error) {
  if (!shutdown.signal.aborted) {
    console.error(`The local runner stopped: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
// The reader of stdin would keep the process alive.
process.stdin.destroy();
