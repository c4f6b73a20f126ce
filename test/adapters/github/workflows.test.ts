import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AppUnderTest, openApp, repositoryRef } from './app-under-test.ts';
import { type ScriptedGitHub, startScriptedGitHub } from './scripted-github.ts';

const once = { scope: 'run-1', key: 'dispatch-1' };
const path = '.github/workflows/metainfer-engine.yml';
const dispatchPath = /\/actions\/workflows\/metainfer-engine\.yml\/dispatches$/;
const runsPath = /\/actions\/workflows\/metainfer-engine\.yml\/runs$/;
const inputs = { request_id: 'run-1-1', engine_sha: 'a'.repeat(40) };
const badGateway = { status: 502, body: { message: 'Server Error' } };

let github: ScriptedGitHub;
let app: AppUnderTest;
let runs: Record<string, unknown>[];
let givesDetails: boolean;

beforeEach(async () => {
  github = await startScriptedGitHub();
  [runs, givesDetails] = [[], true];
  github.on('POST', dispatchPath, ({ body }) => {
    const { request_id } = body.inputs as unknown as typeof inputs;
    const id = 7000 + runs.length;
    const url = `https://x/runs/${id}`;
    const title = `metainfer ${request_id}`;
    runs.unshift({
      id,
      html_url: url,
      path: `${path}@main`,
      event: 'workflow_dispatch',
      display_title: title,
      status: 'queued',
      conclusion: null,
      head_branch: 'main',
    });
    return givesDetails
      ? { status: 200, body: { workflow_run_id: id, run_url: url, html_url: url } }
      : { status: 204 };
  });
  github.on('GET', runsPath, () => ({ status: 200, body: { workflow_runs: runs } }));
  app = openApp(`${github.url}/api/v3`);
});
afterEach(() => github.stop());

const repository = () => app.client.repository(repositoryRef);

describe('a dispatch of the workflow', () => {
  it('goes to the default branch once and gives the run id', async () => {
    expect(await repository().dispatchWorkflow(once, path, inputs)).toEqual({ workflowRunId: 7000 });
    expect(await repository().dispatchWorkflow(once, path, inputs)).toEqual({ workflowRunId: 7000 });
    expect(runs).toHaveLength(1);
    const sent = github.seen.find((it) => dispatchPath.test(it.path));
    expect(sent?.body).toEqual({ ref: 'main', inputs, return_run_details: true });
  });

  it('gives no run id where the server is too old to say it', async () => {
    givesDetails = false;
    expect(await repository().dispatchWorkflow(once, path, inputs)).toEqual({ workflowRunId: null });
    expect(await repository().dispatchWorkflow(once, path, inputs)).toEqual({ workflowRunId: null });
    expect(runs).toHaveLength(1);
    expect(await repository().findWorkflowRun(path, 'run-1-1')).toMatchObject({ id: 7000, path });
    expect(await repository().findWorkflowRun(path, 'run-1-10')).toBeUndefined();
  });

  it('is found by the request id in its name after a lost answer and after a crash', async () => {
    github.faults.push({ method: 'POST', path: dispatchPath, reply: badGateway, lands: true });
    expect(await repository().dispatchWorkflow(once, path, inputs)).toEqual({ workflowRunId: 7000 });
    app.effects.records.clear();
    await app.effects.begin(once.scope, once.key);
    expect(await repository().dispatchWorkflow(once, path, inputs)).toEqual({ workflowRunId: 7000 });
    expect(runs).toHaveLength(1);
  });

  it('names what is wrong with the workflow file', async () => {
    const message = "Workflow does not have 'workflow_dispatch' trigger";
    github.faults.push({ method: 'POST', path: dispatchPath, reply: { status: 422, body: { message } } });
    await expect(repository().dispatchWorkflow(once, path, inputs)).rejects.toMatchObject({
      code: 'WORKFLOW_MISSING',
      message: expect.stringContaining(`could not start ${path} on main of octo/engines: "${message}"`),
    });
  });
});

describe('the workflow and its runs', () => {
  it('is read with its state and text, and undefined where GitHub knows none', async () => {
    expect(await repository().readWorkflow(path)).toBeUndefined();
    github.on('GET', /\/actions\/workflows\/metainfer-engine\.yml$/, () => ({
      status: 200,
      body: { state: 'active' },
    }));
    github.on('GET', /\/contents\/\.github\/workflows\/metainfer-engine\.yml$/, () => ({
      status: 200,
      body: {
        type: 'file',
        size: 3,
        encoding: 'base64',
        content: Buffer.from('on:').toString('base64'),
      },
    }));
    expect(await repository().readWorkflow(path)).toEqual({ state: 'active', text: 'on:' });
  });

  it('lists jobs with labels and the runner, null while none took it', async () => {
    const created = '2026-11-30T08:00:00Z';
    const job = { id: 1, status: 'queued', conclusion: null, labels: ['metainfer'], runner_name: '' };
    github.on('GET', /\/actions\/runs\/7000\/jobs$/, () => ({
      status: 200,
      body: { jobs: [{ ...job, created_at: created, started_at: created }] },
    }));
    expect(await repository().listWorkflowJobs(7000)).toEqual([
      {
        id: 1,
        status: 'queued',
        conclusion: null,
        labels: ['metainfer'],
        runnerName: null,
        createdAt: new Date(created),
        startedAt: new Date(created),
      },
    ]);
  });

  it('may be cancelled although it ended already', async () => {
    const cancelPath = /\/actions\/runs\/7000\/cancel$/;
    github.on('POST', cancelPath, () => ({ status: 409, body: { message: 'Cannot cancel a workflow run' } }));
    await repository().cancelWorkflowRun(7000);
    expect(github.count('POST', cancelPath)).toBe(1);
  });
});

describe('the artifact of a run', () => {
  const zip = Buffer.from('PK bytes of a zip');
  const storage = /^\/storage\/zip$/;
  let isExpired: boolean;
  let declaredSize: number;

  beforeEach(() => {
    [isExpired, declaredSize] = [false, zip.length];
    github.on('GET', /\/actions\/runs\/7000\/artifacts$/, ({ query }) => ({
      status: 200,
      body: {
        artifacts: [
          { id: 3, name: query.get('name'), expired: isExpired, size_in_bytes: declaredSize },
          { id: 4, name: 'another', expired: false, size_in_bytes: 1 },
        ],
      },
    }));
    github.on('GET', /\/actions\/artifacts\/3\/zip$/, () => ({
      status: 302,
      headers: { location: `${github.url}/storage/zip?sig=secret` },
    }));
    github.on('GET', storage, () => ({ status: 200, raw: zip }));
  });

  const download = (maxBytes = 1000) => repository().downloadArtifact(7000, 'metainfer-run-1-1', maxBytes);

  it('is downloaded from where GitHub points to, without our token', async () => {
    expect(await download()).toEqual(zip);
    const request = github.seen.find((it) => storage.test(it.path));
    expect(request?.headers.authorization).toBeUndefined();
  });

  it('is undefined where there is none or it expired', async () => {
    isExpired = true;
    expect(await download()).toBeUndefined();
  });

  it('is refused as too large by what GitHub declares and by what really comes', async () => {
    await expect(download(10)).rejects.toMatchObject({ code: 'REPORT_REJECTED' });
    expect(github.count('GET', storage)).toBe(0);
    declaredSize = 1;
    await expect(download(10)).rejects.toMatchObject({
      code: 'REPORT_REJECTED',
      message: expect.stringContaining('metainfer-run-1-1 has more than 10 bytes'),
    });
  });

  it('is asked for anew where the download broke off, with a new address', async () => {
    github.faults.push(
      { method: 'GET', path: storage, reply: 'hang up' },
      { method: 'GET', path: storage, reply: { status: 403 } },
    );
    expect(await download()).toEqual(zip);
    expect(github.count('GET', /\/zip$/)).toBe(6);
  });

  it('is given up as GITHUB_UNAVAILABLE after three tries', async () => {
    for (let fault = 0; fault < 3; fault += 1) {
      github.faults.push({ method: 'GET', path: storage, reply: { status: 500 } });
    }
    await expect(download()).rejects.toMatchObject({ code: 'GITHUB_UNAVAILABLE' });
  });
});
