import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ZipFile } from 'yazl';
import { checkoutEngine } from './checkout-engine.ts';
import { runCommand, systemPath } from './run-command.ts';
import type { ClaimedJob, JobConclusion, RunnerClient } from './runner-client.ts';
import type { RunnerSettings } from './runner-settings.ts';

/** The workflow that the runner knows; it runs this one's command and reads no YAML. */
const knownWorkflow = '.github/workflows/metainfer-engine.yml';
const heartbeatMilliseconds = 500;

/** What the action checks before it uses an input (runner-config/action/judge.sh). */
const patterns = {
  engine_sha: /^[0-9a-f]{40}$/,
  engine_path: /^engines\/[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/,
  request_id: /^[0-9a-z-]{8,80}$/,
  constraints_sha256: /^[0-9a-f]{64}$/,
  baseline: /^(?:llama\.cpp|none)$/,
  labels: /^\[["a-zA-Z0-9., _-]*\]$/,
} as const;
type Inputs = Readonly<Record<keyof typeof patterns, string>>;

function acceptInputs(job: ClaimedJob): Inputs {
  if (job.workflow_path !== knownWorkflow) {
    throw new Error(`The local runner knows ${knownWorkflow} and not ${job.workflow_path}.`);
  }
  for (const [name, pattern] of Object.entries(patterns)) {
    if (!pattern.test(job.inputs[name] ?? ''))
      throw new Error(`The input ${name} is not what the bot sends.`);
  }
  return job.inputs as Inputs;
}

/**
 * Does one job from checkout to completion; what goes wrong ends up in the job's log. `shutdown` ends it as failed,
 * a cancelled run as cancelled.
 */
export async function runJob(
  job: ClaimedJob,
  client: RunnerClient,
  settings: RunnerSettings,
  shutdown: AbortSignal,
): Promise<JobConclusion> {
  const cancelled = new AbortController();
  const signal = AbortSignal.any([shutdown, cancelled.signal]);
  let pending = '';
  const say = (text: string): void => {
    pending += text;
  };
  const beat = async (): Promise<void> => {
    const log = pending;
    pending = '';
    if (await client.progress(job.job_id, log)) cancelled.abort();
  };
  // A heartbeat that fails is tried again with the next one; the log of it is lost.
  const timer = setInterval(() => void beat().catch(() => {}), heartbeatMilliseconds);
  let conclusion: JobConclusion = 'failure';
  const folder = await mkdtemp(join(settings.workFolder, `job-${job.job_id}-`));
  try {
    const inputs = acceptInputs(job);
    const code = await judge(job, inputs, { settings, folder, signal, say });
    if (!signal.aborted) await upload(job, inputs, client, join(folder, 'output'));
    // As judge.sh does it: without a device the runner did what it could, and the report says what is open.
    if (code === 0 || code === 5) conclusion = 'success';
  } catch (error) {
    say(`${(error as Error).message}\n`);
  } finally {
    clearInterval(timer);
    await rm(folder, { recursive: true, force: true });
  }
  if (cancelled.signal.aborted) conclusion = 'cancelled';
  if (shutdown.aborted) say('The runner was shut down.\n');
  await beat().catch(() => {});
  await client.complete(job.job_id, conclusion);
  return conclusion;
}

/** Checkout and the command of runner-config/action/judge.sh. Gives the harness's exit code. */
async function judge(
  job: ClaimedJob,
  inputs: Inputs,
  at: {
    readonly settings: RunnerSettings;
    readonly folder: string;
    readonly signal: AbortSignal;
    readonly say: (text: string) => void;
  },
): Promise<number | null> {
  const { settings, signal } = at;
  const checkout = join(at.folder, 'engine');
  await checkoutEngine({
    ...{ cloneUrl: job.clone_url, cloneToken: job.clone_token, commit: inputs.engine_sha },
    ...{ enginePath: inputs.engine_path, folder: checkout, signal },
  });
  const { request_id, engine_sha, constraints_sha256, baseline, labels } = inputs;
  const options = ['--request-id', request_id, '--engine-commit', engine_sha, '--baseline', baseline];
  const rest = ['--constraints-sha256', constraints_sha256, '--labels', labels, '--runner', settings.name];
  const command = [...settings.harness, 'judge', inputs.engine_path, ...options, ...rest];
  const environment = {
    PATH: systemPath,
    HOME: at.folder,
    METAINFER_CACHE: settings.cacheFolder,
    METAINFER_SANDBOX: settings.sandbox,
    ...(settings.weightsFolder === null ? {} : { METAINFER_WEIGHTS: settings.weightsFolder }),
  };
  const { code } = await runCommand([...command, '--output', join(at.folder, 'output')], {
    ...{ cwd: checkout, environment, signal, onOutput: at.say },
  });
  return code;
}

async function upload(job: ClaimedJob, inputs: Inputs, client: RunnerClient, output: string): Promise<void> {
  const zip = new ZipFile();
  let count = 0;
  for (const name of ['result.json', 'report.json', 'log.txt']) {
    const bytes = await readFile(join(output, name)).catch(() => undefined);
    if (bytes === undefined) continue;
    zip.addBuffer(bytes, name);
    count += 1;
  }
  if (count === 0) throw new Error('The harness left no result to hand in.');
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream as AsyncIterable<Buffer>) chunks.push(chunk);
  await client.uploadArtifact(job.job_id, `metainfer-${inputs.request_id}`, Buffer.concat(chunks));
}
