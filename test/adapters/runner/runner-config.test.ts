import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { labelsFor, readRunnerLabels } from '../../../src/adapters/runner/runner-labels.ts';
import { renderWorkflow, workflowPath } from '../../../src/adapters/runner/workflow-text.ts';
import { packageRoot } from '../../../src/preparation/package-root.ts';

const root = packageRoot();
const folder = mkdtempSync(join(tmpdir(), 'metainfer-runner-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}
interface Workflow {
  readonly 'run-name': string;
  readonly on: {
    readonly workflow_dispatch: { readonly inputs: Readonly<Record<string, { required: boolean }>> };
  };
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<string, Readonly<Record<string, unknown>> & { readonly steps: readonly Step[] }>
  >;
}
interface Action {
  readonly inputs: Readonly<Record<string, { required: boolean }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

const pins = { homeRepository: 'acme/metainfer-bot', homeSha: 'f'.repeat(40) };
const text = renderWorkflow(pins);
const workflow = parse(text) as Workflow;
const action = parse(readFileSync(join(root, 'runner-config/action/action.yml'), 'utf8')) as Action;
const steps = workflow.jobs.judge?.steps ?? [];

describe('the engine workflow', () => {
  it('is the text that lies in this repository, whose pins stand for those of a home repository', () => {
    const committed = readFileSync(join(root, workflowPath), 'utf8');
    expect(committed).toBe(
      renderWorkflow({ homeRepository: 'OWNER/metainfer-bot', homeSha: '0'.repeat(40) }),
    );
  });

  it('is started by dispatch only, reads contents only, and knows no secret', () => {
    expect(Object.keys(workflow.on)).toEqual(['workflow_dispatch']);
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(text).not.toMatch(/secrets|github\.token|GITHUB_TOKEN/);
    expect(Object.keys(workflow.jobs)).toEqual(['judge']);
    expect(workflow.jobs.judge).not.toHaveProperty('permissions');
    expect(workflow.jobs.judge?.['timeout-minutes']).toBeTypeOf('number');
  });

  it('takes the inputs that the bot sends, all required, and is named after the request', () => {
    const inputs = workflow.on.workflow_dispatch.inputs;
    expect(Object.keys(inputs).sort()).toEqual(
      ['engine_sha', 'request_id', 'constraints_sha256', 'engine_path', 'labels', 'baseline'].sort(),
    );
    expect(Object.values(inputs).every((input) => input.required)).toBe(true);
    expect(workflow['run-name']).toBe(`metainfer \${{ inputs.request_id }}`);
    expect(workflow.jobs.judge?.['runs-on']).toBe(`\${{ fromJSON(inputs.labels) }}`);
  });

  it('runs nothing itself and pins every action by commit', () => {
    expect(steps.map(({ run }) => run)).toEqual([undefined, undefined, undefined]);
    for (const { uses } of steps) expect(uses).toMatch(/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/);
    expect(steps[1]?.uses).toBe(`acme/metainfer-bot/runner-config/action@${'f'.repeat(40)}`);
    expect(steps[0]?.with?.['persist-credentials']).toBe(false);
    expect(steps[2]?.with?.name).toBe(`metainfer-\${{ inputs.request_id }}`);
  });

  it('hands the action exactly the inputs that it requires', () => {
    expect(Object.keys(steps[1]?.with ?? {}).sort()).toEqual(Object.keys(action.inputs).sort());
    expect(Object.values(action.inputs).every((input) => input.required)).toBe(true);
  });
});

describe('the action', () => {
  it('passes inputs to its script as variables and writes none into a command', () => {
    expect(action.runs.steps).toHaveLength(1);
    const [step] = action.runs.steps;
    expect(step?.run).not.toContain('${{');
    const passed = Object.values(step?.env ?? {}).map(
      (value) => /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(value)?.[1],
    );
    expect(passed.sort()).toEqual(Object.keys(action.inputs).sort());
  });
});

/** A harness that is installed already and tells how it was called. */
const harnessSha = 'e'.repeat(40);
const installed = join(folder, 'tools/metainfer', harnessSha, 'dist/src');
mkdirSync(installed, { recursive: true });
mkdirSync(join(folder, 'workspace/engine'), { recursive: true });
writeFileSync(
  join(installed, 'cli.js'),
  'console.log(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd() })); process.exit(1);',
);

const script = join(root, 'runner-config/action/judge.sh');

function environment(changes: Readonly<Record<string, string>>) {
  return {
    PATH: process.env.PATH,
    GITHUB_ACTION_PATH: join(root, 'runner-config/action'),
    GITHUB_WORKSPACE: join(folder, 'workspace'),
    RUNNER_TOOL_CACHE: join(folder, 'tools'),
    RUNNER_TEMP: join(folder, 'temp'),
    RUNNER_NAME: 'box 1',
    HARNESS_SHA: harnessSha,
    ENGINE_SHA: 'a'.repeat(40),
    ENGINE_PATH: 'engines/tiny-qwen3',
    REQUEST_ID: 'run-0123-1',
    CONSTRAINTS_SHA256: 'c'.repeat(64),
    LABELS: '["self-hosted","metainfer-cpu-avx2"]',
    BASELINE: 'llama.cpp',
    ...changes,
  };
}

function runScript(changes: Readonly<Record<string, string>> = {}) {
  return spawnSync('bash', [script], { encoding: 'utf8', env: environment(changes) });
}

describe('the script of the action', () => {
  it('starts the harness in the checkout, hands its exit code on, and mutes commands in its output', () => {
    const { status, stdout } = runScript();
    const lines = stdout.trim().split('\n');
    const token = /^::stop-commands::([0-9a-f]{32})$/.exec(lines[0] ?? '')?.[1];
    expect([status, lines.length, lines[2]]).toEqual([1, 3, `::${token}::`]);
    expect(JSON.parse(lines[1] ?? '')).toEqual({
      cwd: join(folder, 'workspace/engine'),
      args: [
        ...['judge', 'engines/tiny-qwen3', '--request-id', 'run-0123-1', '--engine-commit', 'a'.repeat(40)],
        ...[
          '--constraints-sha256',
          'c'.repeat(64),
          '--harness-commit',
          harnessSha,
          '--baseline',
          'llama.cpp',
        ],
        ...['--labels', '["self-hosted","metainfer-cpu-avx2"]', '--runner', 'box 1'],
        ...['--output', join(folder, 'temp/metainfer')],
      ],
    });
  });

  it('installs the harness of a commit once, without scripts of packages, and takes it from there', () => {
    const source = join(folder, 'downloaded');
    cpSync(join(root, 'runner-config'), join(source, 'runner-config'), { recursive: true });
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const build = `[ "$1" = run ] && mkdir -p dist/src && echo 'console.log("built")' > dist/src/cli.js`;
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\necho "$@" >> ${folder}/npm.txt\n${build}\nexit 0\n`, {
      mode: 0o755,
    });
    const changes = {
      PATH: `${bin}:${process.env.PATH}`,
      HARNESS_SHA: 'b'.repeat(40),
      GITHUB_ACTION_PATH: join(source, 'runner-config/action'),
    };
    for (const run of [runScript(changes), runScript(changes)]) {
      expect([run.status, run.stderr]).toEqual([0, '']);
      expect(run.stdout).toContain('\nbuilt\n');
    }
    expect(readFileSync(join(folder, 'npm.txt'), 'utf8')).toBe(
      'ci --ignore-scripts --no-audit --no-fund\nrun build\n',
    );
    expect(readdirSync(join(folder, 'tools/metainfer')).filter((name) => name.startsWith('part-'))).toEqual(
      [],
    );
  });

  it.each([
    ['HARNESS_SHA', '../..'],
    ['ENGINE_SHA', 'main'],
    ['ENGINE_PATH', 'engines/../..'],
    ['ENGINE_PATH', 'engines/a\nb'],
    ['REQUEST_ID', '$(touch /tmp/x)'],
    ['CONSTRAINTS_SHA256', ''],
    ['LABELS', '["a"]; rm -rf /'],
    ['BASELINE', 'vllm'],
  ])('refuses %s = %j and starts nothing', (name, value) => {
    const { status, stdout } = runScript({ [name]: value });
    expect(status).toBe(2);
    expect(stdout).toMatch(/^::error::The input [a-z0-9-]+ is not what the bot sends\./);
    expect(stdout).not.toContain('stop-commands');
  });
});

describe('a job that is cancelled', () => {
  it('ends the harness, not only the shell', async () => {
    const waiting = join(folder, 'tools/metainfer', 'd'.repeat(40), 'dist/src');
    mkdirSync(waiting, { recursive: true });
    writeFileSync(
      join(waiting, 'cli.js'),
      "process.on('SIGTERM', () => { console.log('stopped'); process.exit(130); }); setInterval(() => {}, 1000); console.log('ready');",
    );
    const child = spawn('bash', [script], { env: environment({ HARNESS_SHA: 'd'.repeat(40) }) });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (chunk.includes('ready')) child.kill('SIGINT');
    });
    const status = await new Promise((resolve) => child.on('close', resolve));
    expect(output).toContain('stopped');
    expect(status).toBe(130);
  });
});

describe('runner-config/labels.yaml', () => {
  it('has labels for every arch of every platform of the knowledge, and no others', async () => {
    const labels = await readRunnerLabels(join(root, 'runner-config/labels.yaml'));
    const platforms = readdirSync(join(root, 'knowledge/platforms')).map(
      (file) =>
        parse(readFileSync(join(root, 'knowledge/platforms', file), 'utf8')) as { id: string; archs: object },
    );
    const listed = Object.entries(labels).map(([id, archs]) => [id, Object.keys(archs)]);
    expect(listed).toEqual(platforms.map(({ id, archs }) => [id, Object.keys(archs)]));
    expect(labelsFor(labels, 'cpu-x86_64', 'avx2')).toEqual([
      'self-hosted',
      'linux',
      'x64',
      'metainfer-cpu-avx2',
    ]);
    expect(labelsFor(labels, 'cuda', 'sm_75')).toBeUndefined();
    expect(labelsFor(labels, 'constructor', 'name')).toBeUndefined();
  });

  it('asks for the lock of the GPU, by the label gpu, on every arch of cuda and nowhere else', async () => {
    const labels = await readRunnerLabels(join(root, 'runner-config/labels.yaml'));
    for (const [platform, archs] of Object.entries(labels))
      for (const list of Object.values(archs)) expect(list.includes('gpu')).toBe(platform === 'cuda');
    expect(labelsFor(labels, 'cuda', 'sm_90')).toEqual([
      ...['self-hosted', 'linux', 'x64', 'gpu', 'metainfer-cuda-sm-90'],
    ]);
  });

  it('lists for each GPU what the Helm values offer', async () => {
    const labels = await readRunnerLabels(join(root, 'runner-config/labels.yaml'));
    const values = parse(readFileSync(join(root, 'runner-config/cuda/arc-values.yaml'), 'utf8')) as {
      scaleSetLabels: string[];
      template: { spec: { containers: { resources: { limits: Record<string, unknown> } }[] } };
    };
    expect(values.scaleSetLabels).toEqual(labelsFor(labels, 'cuda', 'sm_90'));
    expect(values.template.spec.containers[0]?.resources.limits['nvidia.com/gpu']).toBe(1);
  });

  it.each([
    ['cpu-x86_64: {avx2: [ubuntu-latest, x64]}', 'cpu-x86_64.avx2: the first label must be self-hosted'],
    ['cpu-x86_64: {avx2: [self-hosted, "a b"]}', 'cpu-x86_64.avx2.1'],
    ['cpu-x86_64: [avx2]', 'cpu-x86_64'],
    ['{', 'cannot be read'],
  ])('is refused with its place: %s', async (written, place) => {
    const path = join(folder, 'labels.yaml');
    writeFileSync(path, written);
    await expect(readRunnerLabels(path)).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
      message: expect.stringContaining(place),
    });
  });
});
