import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unzipArtifact } from '../../../src/adapters/runner/unzip-artifact.ts';
import { resolveCommit } from '../../../src/local/github/read-commits.ts';
import { failLostJobs } from '../../../src/local/github/runner-heartbeats.ts';
import { runnerToken } from '../../../src/local/github/runner-state.ts';
import { completeJob } from '../../../src/local/github/workflow-runs.ts';
import { type StartedRunner, startLocalRunner } from '../../../src/local/runner/start-local-runner.ts';
import { processesWith } from '../../fixtures/command-line.ts';
import { isLacking } from '../../fixtures/needed-tool.ts';
import { type ActionsWorld, base, dispatchInputs, file, openActionsWorld } from '../github/actions-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'metainfer-runner-test-'));
const workFolder = join(folder, 'work');
/** A harness that tells what it saw, or hangs, as the engine's name says. */
const harness = join(folder, 'harness.mjs');
writeFileSync(
  harness,
  `import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
  const args = process.argv.slice(2);
  const output = args[args.indexOf('--output') + 1];
  const name = args[1].split('/')[1];
  console.log('judging ' + name);
  const saw = {
    args: args.filter((_, index) => index !== args.indexOf(output)),
    files: readdirSync('.', { recursive: true }).filter((path) => !path.startsWith('.git')).sort(),
    config: readFileSync('.git/config', 'utf8'),
    environment: Object.keys(process.env).sort(),
    weights: process.env.METAINFER_WEIGHTS,
  };
  if (name === 'slow') {
    process.on('SIGTERM', () => { console.log('stopping'); process.exit(130); });
    setInterval(() => {}, 1000);
  } else if (name !== 'silent') {
    mkdirSync(output);
    writeFileSync(output + '/result.json', JSON.stringify(saw));
    writeFileSync(output + '/log.txt', 'told');
    writeFileSync(output + '/more.txt', 'not handed in');
    process.exitCode = name === 'wrong' ? 1 : 0;
  }`,
);

let world: ActionsWorld;
let runner: StartedRunner;
let commit = '';
/** Milliseconds that the local GitHub's clock is ahead. */
let clockAhead = 0;
const lines: string[] = [];

beforeAll(async () => {
  const engine = { 'engines/good/main.cpp': 'int main() {}\n', 'engines/good/config.h': '' };
  const others = Object.fromEntries(
    ['wrong', 'slow', 'silent'].map((name) => [`engines/${name}/main.cpp`, '']),
  );
  world = await openActionsWorld({
    files: { ...engine, ...others },
    now: () => new Date(Date.now() + clockAhead),
  });
  commit = (await resolveCommit(world.github.world, world.repository, 'main')) ?? '';
  runner = startRunner('box', ['self-hosted', 'linux', 'metainfer-cpu-avx2']);
});

function startRunner(name: string, labels: readonly string[]): StartedRunner {
  return startLocalRunner({
    ...{ url: world.github.url, token: runnerToken(world.github.world), name, labels },
    workFolder: name === 'box' ? workFolder : join(folder, name),
    weightsFolder: join(folder, 'weights'),
    cacheFolder: join(folder, 'cache'),
    harness: [process.execPath, harness],
    onLine: (line) => lines.push(line),
  });
}
afterAll(async () => {
  await runner.stop();
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Dispatches a run and gives its state when `isDone`, asking as often as it takes. */
async function dispatch(changes: Readonly<Record<string, string>>): Promise<string> {
  const { status, body } = await world.bot('POST', `${base}/actions/workflows/${file}/dispatches`, {
    ...{ ref: 'main', return_run_details: true },
    inputs: dispatchInputs({ engine_sha: commit, ...changes }),
  });
  expect(status).toBe(200);
  return `${base}/actions/runs/${body.workflow_run_id}`;
}

async function until<Value>(read: () => Promise<Value>, isDone: (value: Value) => boolean): Promise<Value> {
  for (;;) {
    const value = await read();
    if (isDone(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const conclusionOf = async (path: string): Promise<string> =>
  (
    await until(
      async () => (await world.bot('GET', path)).body,
      ({ status }) => status === 'completed',
    )
  ).conclusion;

const logOf = (path: string): string =>
  world.repository.workflowRuns.get(Number(path.split('/').at(-1)))?.job.log ?? '';

async function artifactOf(path: string) {
  const id = Number(path.split('/').at(-1));
  const artifact = [...world.repository.artifacts.values()].find(({ run }) => run.id === id);
  return artifact && { name: artifact.name, files: await unzipArtifact(artifact.zip) };
}

describe('a job of the local runner', () => {
  it('checks out the engine alone, runs the command of the action, and hands in what it left', async () => {
    const path = await dispatch({ engine_path: 'engines/good', request_id: 'run-good-1' });
    expect(await conclusionOf(path)).toBe('success');
    const artifact = await artifactOf(path);
    expect(artifact?.name).toBe('metainfer-run-good-1');
    expect([...(artifact?.files.keys() ?? [])]).toEqual(['result.json', 'log.txt']);
    const saw = JSON.parse(String(artifact?.files.get('result.json')));
    expect(saw.files).toEqual(['engines', 'engines/good', 'engines/good/config.h', 'engines/good/main.cpp']);
    expect(saw.args).toEqual([
      ...['judge', 'engines/good', '--request-id', 'run-good-1', '--engine-commit', commit],
      ...['--baseline', 'none', '--constraints-sha256', 'c'.repeat(64)],
      ...['--labels', '["self-hosted","linux","metainfer-cpu-avx2"]', '--runner', 'box', '--output'],
    ]);
    expect(logOf(path)).toBe('judging good\n');
    expect(lines).toContain('box: took run-good-1 (engines/good)');
  });

  it('hands neither the token nor the environment of its starter to the harness', async () => {
    const path = await dispatch({ engine_path: 'engines/good', request_id: 'run-good-2' });
    await conclusionOf(path);
    const saw = JSON.parse(String((await artifactOf(path))?.files.get('result.json')));
    expect(saw.environment).toEqual([
      ...['HOME', 'METAINFER_CACHE', 'METAINFER_SANDBOX', 'METAINFER_WEIGHTS', 'PATH'],
    ]);
    expect(saw.weights).toBe(join(folder, 'weights'));
    expect(saw.config).not.toMatch(/ghs_|extraheader|url/i);
  });

  it('fails with the harness, and its result is handed in all the same', async () => {
    const path = await dispatch({ engine_path: 'engines/wrong' });
    expect(await conclusionOf(path)).toBe('failure');
    expect((await artifactOf(path))?.files.has('result.json')).toBe(true);
  });

  it.each([
    ['a harness that leaves nothing', { engine_path: 'engines/silent' }, 'left no result'],
    ['a commit that is not there', { engine_path: 'engines/good', engine_sha: 'b'.repeat(40) }, 'git fetch'],
    ['a path out of the checkout', { engine_path: 'engines/../..' }, 'The input engine_path is not'],
  ])('fails without an artifact and says why: %s', async (_, changes, words) => {
    const path = await dispatch(changes);
    expect(await conclusionOf(path)).toBe('failure');
    expect(logOf(path)).toContain(words);
    expect(await artifactOf(path)).toBeUndefined();
  });

  it('that is cancelled stops its harness and hands in nothing', async () => {
    const path = await dispatch({ engine_path: 'engines/slow' });
    await until(
      async () => logOf(path),
      (log) => log.includes('judging slow'),
    );
    await world.bot('POST', `${path}/cancel`);
    expect(await conclusionOf(path)).toBe('cancelled');
    expect(logOf(path)).toContain('stopping');
    expect(await artifactOf(path)).toBeUndefined();
  });

  it('leaves nothing in the work folder', async () => {
    await conclusionOf(await dispatch({ engine_path: 'engines/good' }));
    expect(readdirSync(workFolder)).toEqual([]);
  });
});

describe('a runner that is killed', () => {
  it.skipIf(isLacking('setpriv'))('takes its harness along', async () => {
    const path = await dispatch({ engine_path: 'engines/slow', labels: '["doomed"]' });
    const doomed = startRunner('doomed', ['doomed']);
    await until(
      async () => logOf(path),
      (log) => log.includes('judging slow'),
    );
    expect([...processesWith(harness).values()]).not.toEqual([]);
    process.kill(doomed.pid, 'SIGKILL');
    expect(await doomed.ended).toBeNull();
    await until(
      async () => processesWith(harness).size,
      (count) => count === 0,
    );
    const run = world.repository.workflowRuns.get(Number(path.split('/').at(-1)))!;
    expect(run.job.status).toBe('in_progress');
    await world.bot('POST', `${path}/cancel`);
    clockAhead = 31_000;
    failLostJobs(world.github.world);
    expect(await conclusionOf(path)).toBe('cancelled');
  });
});

describe('a runner whose job was given up', () => {
  it('stops its harness and takes the next job', async () => {
    const path = await dispatch({ engine_path: 'engines/slow' });
    await until(
      async () => logOf(path),
      (log) => log.includes('judging slow'),
    );
    const repository = world.repository;
    const run = repository.workflowRuns.get(Number(path.split('/').at(-1)))!;
    completeJob(world.github.world, repository, run, 'failure');
    expect(await conclusionOf(await dispatch({ engine_path: 'engines/good' }))).toBe('success');
    expect(await conclusionOf(path)).toBe('failure');
    expect([...processesWith(harness).values()]).toEqual([]);
  });
});

describe('a runner that is stopped', () => {
  it('takes the harness along and fails the job', async () => {
    const path = await dispatch({ engine_path: 'engines/slow' });
    await until(
      async () => logOf(path),
      (log) => log.includes('judging slow'),
    );
    await runner.stop();
    expect(await runner.ended).toBe(0);
    expect(await conclusionOf(path)).toBe('failure');
    expect(logOf(path)).toContain('The runner was shut down.');
    expect([...processesWith(harness).values()]).toEqual([]);
    expect(readdirSync(workFolder)).toEqual([]);
  });

  it('every answer and payload of the stand-in was as GitHub publishes it', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
