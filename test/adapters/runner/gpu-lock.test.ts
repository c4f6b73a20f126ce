import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../src/preparation/package-root.ts';

const script = join(packageRoot(), 'runner-config/action/judge.sh');
const folder = mkdtempSync(join(tmpdir(), 'metainfer-gpu-lock-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const uuid = '0a1b2c3d-0000-1111-2222-333344445555';
const cudaLabels = '["self-hosted","linux","x64","gpu","metainfer-cuda-sm-90"]';
const cpuLabels = '["self-hosted","linux","x64","metainfer-cpu-avx2"]';

/** A harness of this commit, installed already. */
function install(letter: string, code: string): string {
  const sha = letter.repeat(40);
  const home = join(folder, 'tools/metainfer', sha, 'dist/src');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'cli.js'), code);
  return sha;
}
const passes = install('a', "console.log('judged');");
const unrun = install('b', "console.log('judged'); process.exit(5);");
const holds = install('c', "console.log('judging'); setInterval(() => {}, 1000);");
mkdirSync(join(folder, 'workspace/engine'), { recursive: true });

/** A PATH whose nvidia-smi says this. */
function withSmi(name: string, text: string): string {
  const bin = join(folder, name);
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'nvidia-smi'), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return `${bin}:${process.env.PATH}`;
}
const oneGpu = withSmi('one', `[ "$1" = --query-gpu=uuid ] && echo GPU-${uuid}`);
const twoGpus = withSmi('two', `echo GPU-${uuid}; echo GPU-${uuid.replace('0a', 'ff')}`);
const noDriver = withSmi('none', 'echo "could not communicate with the NVIDIA driver"; exit 9');

function environment(changes: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const locks = join(folder, 'locks');
  mkdirSync(locks, { recursive: true });
  return {
    ...{ PATH: oneGpu, METAINFER_LOCK_FOLDER: locks, METAINFER_GPU_WAIT_MINUTES: '0' },
    GITHUB_ACTION_PATH: join(packageRoot(), 'runner-config/action'),
    ...{ GITHUB_WORKSPACE: join(folder, 'workspace'), RUNNER_TOOL_CACHE: join(folder, 'tools') },
    ...{ RUNNER_TEMP: join(folder, 'temp'), RUNNER_NAME: 'gpu box', HARNESS_SHA: passes },
    ...{ ENGINE_SHA: 'a'.repeat(40), ENGINE_PATH: 'engines/tiny', REQUEST_ID: 'run-0123-1' },
    ...{ CONSTRAINTS_SHA256: 'c'.repeat(64), LABELS: cudaLabels, BASELINE: 'none' },
    ...changes,
  };
}

function runScript(changes: Readonly<Record<string, string>> = {}) {
  return spawnSync('bash', [script], { encoding: 'utf8', env: environment(changes) });
}

/** A job that holds the GPU until it is ended. */
async function startHolder(): Promise<{ readonly job: ChildProcess; end(): Promise<void> }> {
  const job = spawn('bash', [script], { env: environment({ HARNESS_SHA: holds }) });
  await new Promise<void>((resolve, reject) => {
    job.stdout.on('data', (chunk: Buffer) => chunk.includes('judging') && resolve());
    job.once('close', () => reject(new Error('the job ended before it held the GPU')));
  });
  const end = (): Promise<void> =>
    new Promise((resolve) => {
      job.removeAllListeners('close');
      job.once('close', () => resolve());
      job.kill('SIGTERM');
    });
  return { job, end };
}

describe('a job for a GPU', () => {
  it('takes the lock of the first GPU, one that every user of the machine may take', () => {
    for (const path of [oneGpu, twoGpus]) {
      const { status, stdout } = runScript({ PATH: path });
      expect([status, stdout]).toEqual([0, expect.stringContaining(`This job holds GPU-${uuid} alone.`)]);
      expect(stdout).toContain('\njudged\n');
    }
    expect(readdirSync(join(folder, 'locks'))).toEqual([`metainfer-gpu-${uuid}`]);
  });

  it('judges nothing while another job holds it, says so when it waited long enough, and goes on after it', async () => {
    const holder = await startHolder();
    try {
      const { status, stdout } = runScript();
      expect(status).toBe(3);
      expect(stdout).toContain(`Another job holds GPU-${uuid}; waiting for it, 0 minutes at most.`);
      expect(stdout).toContain('::error::Another job held');
      expect(stdout).not.toMatch(/^judged$/m);
      const waiting = spawn('bash', [script], { env: environment({ METAINFER_GPU_WAIT_MINUTES: '1' }) });
      let output = '';
      waiting.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
      const ended = new Promise((resolve) => waiting.once('close', resolve));
      while (!output.includes('waiting for it')) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(output).not.toMatch(/^judged$/m);
      await holder.end();
      expect(await ended).toBe(0);
      expect(output).toContain('\njudged\n');
    } finally {
      holder.job.kill('SIGTERM');
    }
  });

  it('takes no lock without a GPU, and none for an engine of the CPU', () => {
    const locks = join(folder, 'unused');
    mkdirSync(locks);
    const without = runScript({ PATH: noDriver, METAINFER_LOCK_FOLDER: locks });
    expect([without.status, without.stdout]).toEqual([0, expect.stringContaining('No GPU answers here')]);
    const onCpu = runScript({ LABELS: cpuLabels, METAINFER_LOCK_FOLDER: locks });
    expect([onCpu.status, onCpu.stdout]).toEqual([0, expect.not.stringContaining('GPU')]);
    expect(readdirSync(locks)).toEqual([]);
  });

  it.each([
    ['METAINFER_LOCK_FOLDER', '/nonexistent', /the lock of the GPU, .* cannot be opened/i],
    ['METAINFER_GPU_WAIT_MINUTES', 'soon', /is no number of minutes/],
  ])('says what is wrong with %s = %s and judges nothing', (name, value, message) => {
    const { status, stdout } = runScript({ [name]: value });
    expect(status).toBe(3);
    expect(stdout).toMatch(message);
    expect(stdout).not.toMatch(/^judged$/m);
  });

  it('ends with a warning where no device ran the engine, after the harness may speak to the runner again', () => {
    const { status, stdout } = runScript({ HARNESS_SHA: unrun, PATH: noDriver });
    const lines = stdout.trim().split('\n');
    expect(status).toBe(0);
    expect(lines.at(-1)).toMatch(/^::warning title=Not run on a device::.* This is not a pass/);
    expect(lines.at(-2)).toMatch(/^::[0-9a-f]{32}::$/);
  });
});
