import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failLostJobs } from '../../../src/local/github/runner-heartbeats.ts';
import { type ActionsWorld, base, dispatchInputs, file, openActionsWorld } from './actions-world.ts';

let time = new Date('2026-11-30T08:00:00Z');
let world: ActionsWorld;
beforeAll(async () => {
  world = await openActionsWorld({
    now: () => time,
    files: {
      '.github/workflows/push.yml': 'name: on push\non: push\njobs: {a: {runs-on: x}}\n',
      '.github/workflows/broken.yml': 'on: [workflow_dispatch\n',
      '.github/workflows/notes.txt': 'no workflow',
      '.github/workflows/optional.yml':
        'on:\n  workflow_dispatch:\n    inputs:\n      level: {default: 3}\njobs: {a: {runs-on: [self-hosted, odd]}}\n',
    },
  });
});
afterAll(() => world.stop());

const workflow = `${base}/actions/workflows/${file}`;
const dispatch = (body: object) => world.bot('POST', `${workflow}/dispatches`, body);

async function dispatchRun(changes: Readonly<Record<string, string>> = {}): Promise<number> {
  const { status, body } = await dispatch({
    ref: 'main',
    inputs: dispatchInputs(changes),
    return_run_details: true,
  });
  expect(status).toBe(200);
  return body.workflow_run_id;
}

/** Registers a runner and claims one job. */
async function claim(labels: readonly string[]) {
  const { body } = await world.runner('runners', { name: 'box', labels });
  return world.runner('claims', { runner_id: (body as { runner_id: number }).runner_id });
}
const allLabels = ['self-hosted', 'Linux', 'x64', 'metainfer-cpu-avx2'];

describe('workflows', () => {
  it('are the files of the default branch, found by file name and by number', async () => {
    const { body } = await world.bot('GET', `${base}/actions/workflows`);
    expect(body.workflows.map(({ name, path }: { name: string; path: string }) => [name, path])).toEqual([
      ['.github/workflows/broken.yml', '.github/workflows/broken.yml'],
      ['metainfer engine', '.github/workflows/metainfer-engine.yml'],
      ['.github/workflows/optional.yml', '.github/workflows/optional.yml'],
      ['on push', '.github/workflows/push.yml'],
    ]);
    const byFile = await world.bot('GET', workflow);
    const byNumber = await world.bot('GET', `${base}/actions/workflows/${byFile.body.id}`);
    expect(byNumber.body).toEqual(byFile.body);
    expect(byFile.body.state).toBe('active');
    expect((await world.bot('GET', `${base}/actions/workflows/other.yml`)).status).toBe(404);
  });
});

describe('a dispatch that GitHub refuses', () => {
  const inputs = dispatchInputs();
  it.each([
    ['a workflow that is not on the default branch', 'gone.yml', { ref: 'main' }, 404, 'Not Found'],
    ['a branch that is not there', file, { ref: 'nowhere', inputs }, 422, 'No ref found for: nowhere'],
    ['no ref', file, { inputs }, 422, `"ref" wasn't supplied.`],
    ['no trigger', 'push.yml', { ref: 'main' }, 422, "Workflow does not have 'workflow_dispatch' trigger"],
    ['a file that does not parse', 'broken.yml', { ref: 'main' }, 422, 'failed to parse workflow'],
    [
      'an unknown input',
      file,
      { ref: 'main', inputs: { ...inputs, other: '1' } },
      422,
      'Unexpected inputs provided: ["other"]',
    ],
    [
      'a missing input',
      file,
      { ref: 'main', inputs: { ...inputs, request_id: '' } },
      422,
      "Required input 'request_id' not provided",
    ],
  ])('has %s', async (_, name, body, status, message) => {
    const answer = await world.bot('POST', `${base}/actions/workflows/${name}/dispatches`, body);
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
  });

  it('comes from somebody who may not write', async () => {
    expect((await world.rita('POST', `${workflow}/dispatches`, { ref: 'main', inputs })).status).toBe(403);
  });

  it('is for a workflow that somebody disabled, until it is enabled again', async () => {
    expect((await world.mona('PUT', `${workflow}/disable`)).status).toBe(204);
    expect((await world.bot('GET', workflow)).body.state).toBe('disabled_manually');
    const refused = await dispatch({ ref: 'main', inputs });
    expect([refused.status, refused.body.message]).toEqual([
      422,
      expect.stringContaining('disabled workflow'),
    ]);
    expect((await world.mona('PUT', `${workflow}/enable`)).status).toBe(204);
    expect(world.events).toEqual([]);
  });
});

describe('a dispatched run', () => {
  it('is named by run-name, queued with the labels of its inputs, and told to the app', async () => {
    const id = await dispatchRun({ request_id: 'run-0042-1' });
    const { body: run } = await world.bot('GET', `${base}/actions/runs/${id}`);
    expect(run).toMatchObject({
      ...{ display_title: 'metainfer run-0042-1', event: 'workflow_dispatch', status: 'queued' },
      ...{ conclusion: null, path: '.github/workflows/metainfer-engine.yml', head_branch: 'main' },
    });
    const { body } = await world.bot('GET', `${base}/actions/runs/${id}/jobs`);
    expect(body.jobs).toHaveLength(1);
    expect(body.jobs[0]).toMatchObject({
      ...{ name: 'judge', status: 'queued', runner_name: null },
      labels: ['self-hosted', 'linux', 'metainfer-cpu-avx2'],
    });
    expect(world.events.splice(0)).toEqual(['workflow_run.requested', 'workflow_job.queued']);
    await world.mona('POST', `${base}/actions/runs/${id}/cancel`);
    world.events.length = 0;
  });

  it('is answered by 204 where nobody asks for its number, and fills in defaults', async () => {
    const path = `${base}/actions/workflows/optional.yml/dispatches`;
    const answer = await world.bot('POST', path, { ref: 'refs/heads/main' });
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    const run = [...world.repository.workflowRuns.values()].at(-1)!;
    expect(run.inputs).toEqual({ level: '3' });
    await world.bot('POST', `${base}/actions/runs/${run.id}/cancel`);
    world.events.length = 0;
  });

  it('goes to a runner that has all its labels, in whatever case, and to no other', async () => {
    const id = await dispatchRun();
    expect((await claim(['self-hosted', 'linux'])).status).toBe(204);
    const { status, body } = await claim(allLabels);
    expect([status, body]).toEqual([200, expect.objectContaining({ inputs: dispatchInputs() })]);
    expect((await claim(allLabels)).status).toBe(204);
    const job = (await world.bot('GET', `${base}/actions/runs/${id}/jobs`)).body.jobs[0];
    expect([job.status, job.runner_name]).toEqual(['in_progress', 'box']);
    const conclusion = { conclusion: 'failure' };
    expect((await world.runner(`jobs/${job.id}/completion`, conclusion)).status).toBe(204);
    expect((await world.bot('GET', `${base}/actions/runs/${id}`)).body).toMatchObject({
      ...{ status: 'completed', conclusion: 'failure' },
    });
    expect(world.events.splice(0)).toEqual([
      'workflow_run.requested',
      'workflow_job.queued',
      'workflow_run.in_progress',
      'workflow_job.in_progress',
      'workflow_job.completed',
      'workflow_run.completed',
    ]);
    const last = world.payloads.at(-1);
    expect(last.workflow_run).toMatchObject({ id, conclusion: 'failure' });
    expect((await world.runner(`jobs/${job.id}/completion`, conclusion)).status).toBe(404);
  });

  it('is listed newest first by workflow, event, status and branch', async () => {
    const [first, second] = [await dispatchRun({ request_id: 'run-000a-1' }), await dispatchRun()];
    const list = async (query: string) => {
      const { body } = await world.bot('GET', `${workflow}/runs?${query}`);
      return body.workflow_runs.map(({ id }: { id: number }) => id);
    };
    expect((await list('event=workflow_dispatch')).slice(0, 2)).toEqual([second, first]);
    expect(await list('status=queued')).toEqual([second, first]);
    expect(await list('status=queued&per_page=1&page=2')).toEqual([first]);
    expect(await list('branch=other')).toEqual([]);
    expect(await list('event=push')).toEqual([]);
    expect((await world.bot('GET', `${workflow}/runs?created=2020`)).status).toBe(422);
    for (const id of [first, second]) await world.bot('POST', `${base}/actions/runs/${id}/cancel`);
    world.events.length = 0;
  });
});

describe('a run that is cancelled', () => {
  it('ends at once where it is queued, and cannot be cancelled again', async () => {
    const path = `${base}/actions/runs/${await dispatchRun()}`;
    expect(await world.bot('POST', `${path}/cancel`)).toMatchObject({ status: 202, body: {} });
    expect((await world.bot('GET', path)).body).toMatchObject({
      status: 'completed',
      conclusion: 'cancelled',
    });
    const again = await world.bot('POST', `${path}/cancel`);
    expect([again.status, again.body.message]).toEqual([
      409,
      'Cannot cancel a workflow run that is completed.',
    ]);
  });

  it('runs on until its runner has heard of it', async () => {
    const path = `${base}/actions/runs/${await dispatchRun()}`;
    const { job_id } = (await claim(allLabels)).body as { job_id: number };
    const beat = (log: string) => world.runner(`jobs/${job_id}/progress`, { log });
    expect((await beat('one\n')).body).toEqual({ is_cancel_requested: false });
    await world.bot('POST', `${path}/cancel`);
    expect((await world.bot('GET', path)).body.status).toBe('in_progress');
    expect((await beat('two\n')).body).toEqual({ is_cancel_requested: true });
    await world.runner(`jobs/${job_id}/completion`, { conclusion: 'cancelled' });
    expect((await world.bot('GET', path)).body.conclusion).toBe('cancelled');
    expect([...world.repository.workflowRuns.values()].at(-1)?.job.log).toBe('one\ntwo\n');
  });
});

describe('a run whose runner is not heard of', () => {
  const wait = (seconds: number) => {
    time = new Date(time.getTime() + seconds * 1000);
  };

  it('goes on for half a minute after each heartbeat, then it has failed', async () => {
    const path = `${base}/actions/runs/${await dispatchRun()}`;
    const job = `jobs/${((await claim(allLabels)).body as { job_id: number }).job_id}`;
    wait(25);
    await world.runner(`${job}/progress`, { log: '' });
    wait(25);
    expect((await claim(['other'])).status).toBe(204);
    expect((await world.bot('GET', path)).body.status).toBe('in_progress');
    world.events.length = 0;
    wait(6);
    expect((await claim(['other'])).status).toBe(204);
    expect((await world.bot('GET', path)).body).toMatchObject({ status: 'completed', conclusion: 'failure' });
    expect(world.events.splice(0)).toEqual(['workflow_job.completed', 'workflow_run.completed']);
    expect([...world.repository.workflowRuns.values()].at(-1)?.job.log).toBe(
      'The self-hosted runner box lost communication with the server.\n',
    );
    expect((await world.runner(`${job}/progress`, { log: '' })).status).toBe(404);
  });

  it('is cancelled where somebody had asked for that', async () => {
    const path = `${base}/actions/runs/${await dispatchRun()}`;
    await claim(allLabels);
    await world.bot('POST', `${path}/cancel`);
    wait(31);
    failLostJobs(world.github.world);
    expect((await world.bot('GET', path)).body.conclusion).toBe('cancelled');
    world.events.length = 0;
  });
});

describe('an artifact', () => {
  const zip = Buffer.from('PK not really a zip');
  let run = '';

  it('is listed by name with its size and digest', async () => {
    run = `${base}/actions/runs/${await dispatchRun()}`;
    const { job_id } = (await claim(allLabels)).body as { job_id: number };
    const upload = () =>
      world.runner(`jobs/${job_id}/artifacts`, { name: 'metainfer-run-0001-1', zip: zip.toString('base64') });
    expect((await upload()).status).toBe(201);
    expect((await upload()).status).toBe(409);
    await world.runner(`jobs/${job_id}/completion`, { conclusion: 'success' });
    const { body } = await world.bot('GET', `${run}/artifacts?name=metainfer-run-0001-1`);
    expect(body.artifacts).toHaveLength(1);
    expect(body.artifacts[0]).toMatchObject({ size_in_bytes: zip.length, expired: false });
    expect((await world.bot('GET', `${run}/artifacts?name=other`)).body.total_count).toBe(0);
  });

  it('is downloaded through an address that is good for a minute and takes no token', async () => {
    const { id } = (await world.bot('GET', `${run}/artifacts`)).body.artifacts[0];
    const token = world.github.userToken('mona');
    const headers = { authorization: `Bearer ${token}` };
    const locate = async () => {
      const url = `${world.github.apiUrl}${base}/actions/artifacts/${id}/zip`;
      const response = await fetch(url, { headers, redirect: 'manual' });
      expect(response.status).toBe(302);
      return response.headers.get('location') ?? '';
    };
    const location = await locate();
    const bytes = await fetch(location);
    expect(Buffer.from(await bytes.arrayBuffer())).toEqual(zip);
    expect((await fetch(location, { headers })).status).toBe(400);
    time = new Date(time.getTime() + 61_000);
    expect((await fetch(location)).status).toBe(403);
    expect((await fetch(`${location}0`)).status).toBe(404);
    expect((await fetch(await locate())).status).toBe(200);
  });

  it('expires after a week', async () => {
    const { id } = (await world.bot('GET', `${run}/artifacts`)).body.artifacts[0];
    time = new Date(time.getTime() + 7 * 86_400_000);
    const token = world.github.userToken('mona');
    const mona = { authorization: `Bearer ${token}` };
    const url = `${world.github.apiUrl}${base}/actions/artifacts/${id}`;
    expect(((await (await fetch(url, { headers: mona })).json()) as { expired: boolean }).expired).toBe(true);
    expect((await fetch(`${url}/zip`, { headers: mona, redirect: 'manual' })).status).toBe(410);
  });
});

describe("the runner's routes", () => {
  it('need the registration token', async () => {
    const body = { name: 'box', labels: [] };
    expect((await world.runner('runners', body, 'f'.repeat(48))).status).toBe(401);
    expect((await world.runner('runners', body, '')).status).toBe(401);
    expect((await world.runner('claims', { runner_id: 1 })).status).toBe(404);
  });
});

it('every answer and payload is as GitHub publishes it', () => {
  expect(world.watch.problems).toEqual([]);
  expect(world.watch.counts.responses).toBeGreaterThan(50);
  expect(world.watch.counts.webhooks).toBeGreaterThan(20);
});
