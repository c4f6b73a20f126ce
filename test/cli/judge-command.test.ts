import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readArtifact } from '../../src/adapters/runner/read-artifact.ts';
import { parseInvocation } from '../../src/cli/arguments.ts';
import { judgeCommand } from '../../src/cli/judge-command.ts';
import { createProgress } from '../../src/cli/progress.ts';
import { readConfig } from '../../src/config.ts';
import { RunnerResult } from '../../src/model/result.ts';
import { hashEngineTree } from '../../src/verification/engine-tree.ts';
import { craftZip } from '../adapters/runner/craft-zip.ts';
import { CommandLine } from '../fixtures/command-line.ts';
import { readReferenceCheckpoint } from '../fixtures/reference-checkpoint.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
const weights = join(cli.folder, 'weights');
const engine = join(cli.folder, 'engine');
const commit = 'a'.repeat(40);
let constraintsSha256 = '';

const constraints = `apiVersion: metainfer/v1
name: judged
model:
  id: metainfer/tiny-qwen3
weights:
  source: checkpoint
hardware:
  platform: cpu-x86_64
  arch: avx2
  threads: 2
  memory: 2GiB
numerics:
  weights: bf16
serving:
  max_context: 512
workload:
  prompt_tokens: 32
  output_tokens: 16
goals:
  fidelity:
    mean_kld: 1e-6
    top1_agreement: 0.99
`;

beforeAll(async () => {
  mkdirSync(join(weights, 'metainfer'), { recursive: true });
  cpSync(readReferenceCheckpoint('tiny-qwen3').folder, join(weights, 'metainfer/tiny-qwen3'), {
    recursive: true,
  });
  const file = join(cli.folder, 'judged.yaml');
  writeFileSync(file, constraints);
  const environment = { METAINFER_WEIGHTS: weights };
  expect(await cli.run(['generate', file, '-o', engine], { environment })).toMatchObject({ code: 0 });
  const plan = await cli.run(['plan', file, '--json'], { environment });
  constraintsSha256 = /"constraintsSha256": "([0-9a-f]{64})"/.exec(plan.stdout)?.[1] ?? '';
});

/** A copy of the engine that a test may spoil. */
function copyEngine(name: string): string {
  const folder = join(cli.folder, name);
  cpSync(engine, folder, { recursive: true });
  return folder;
}

function argumentsOf(folder: string, output: string, more: readonly string[]): string[] {
  const words = [
    'judge',
    folder,
    '--request-id',
    'run-0123-1',
    '--engine-commit',
    commit,
    '--output',
    output,
  ];
  return [...words, '--constraints-sha256', constraintsSha256, '--baseline', 'none', ...more];
}

/** The command in this process: a program takes two seconds to start. */
async function judge(
  folder: string,
  options: { readonly environment?: Record<string, string>; readonly more?: readonly string[] } = {},
) {
  const output = join(cli.folder, `out-${Math.random()}`);
  const { input } = parseInvocation(argumentsOf(folder, output, options.more ?? []), [judgeCommand]);
  const { exitCode } = await judgeCommand.run(input, {
    config: readConfig({ METAINFER_CACHE: cli.cache, METAINFER_WEIGHTS: weights, ...options.environment }),
    progress: createProgress(process.stderr, true),
    signal: new AbortController().signal,
    print: () => {},
  });
  return { code: exitCode, ...readOutput(output) };
}

function readOutput(output: string) {
  const read = (name: string) =>
    existsSync(join(output, name)) ? readFileSync(join(output, name), 'utf8') : undefined;
  return { read, result: RunnerResult.parse(JSON.parse(read('result.json') ?? 'null')) };
}

describe('judging an engine', () => {
  it('that breaks a rule ends with 1 and leaves an artifact that the app accepts', async () => {
    const folder = copyEngine('edited');
    appendFileSync(join(folder, 'kv_cache.cpp'), '\nint unasked;\n');
    const output = join(cli.folder, 'out');
    const more = ['--runner', 'r1', '--labels', '["self-hosted"]', '--harness-commit', 'b'.repeat(40)];
    const { code, stdout } = await cli.run(argumentsOf(folder, output, more), {
      environment: { METAINFER_WEIGHTS: weights },
    });
    const { result, read } = readOutput(output);
    expect(stdout).toContain('kv_cache.cpp');
    expect(code).toBe(1);
    expect(result).toMatchObject({ outcome: 'judged', failure: null, treeSha256: hashEngineTree(folder) });
    expect(result.runner).toEqual({ name: 'r1', labels: ['self-hosted'] });
    expect(result.harness.commit).toBe('b'.repeat(40));
    expect(read('log.txt')).toMatch(/static +failed/);
    const names = ['result.json', 'report.json', 'log.txt'] as const;
    const zip = craftZip(names.map((name) => ({ name, data: read(name)! })));
    const artifact = await readArtifact(zip, {
      ...{ requestId: 'run-0123-1', engineCommit: commit, constraintsSha256 },
      ...{ treeSha256: hashEngineTree(folder), platform: 'cpu-x86_64' },
      ...{ goals: [], fidelity: { mean_kld: 1e-6, top1_agreement: 0.99 } },
    });
    expect(artifact).toMatchObject({ ok: true, report: { verdict: 'failed' } });
    expect(artifact.ok && artifact.report?.gates[0]?.findings[0]?.file).toBe('kv_cache.cpp');
  });
});

describe('a request that is refused', () => {
  it('because the engine is for another constraint file says both hashes', async () => {
    const other = 'd'.repeat(64);
    const { code, result, read } = await judge(engine, { more: ['--constraints-sha256', other] });
    expect(code).toBe(2);
    expect(result).toMatchObject({ outcome: 'refused', constraintsSha256: other });
    expect(result.failure?.code).toBe('ENGINE_INVALID');
    expect(result.failure?.message).toContain(constraintsSha256);
    expect(result.failure?.message).toContain(other);
    expect(read('report.json')).toBeUndefined();
    expect(read('log.txt')).toContain('Refused (ENGINE_INVALID)');
  });

  it('because it names a path: nobody at this machine vouches for one', async () => {
    const folder = copyEngine('path');
    const text = constraints.replace('id: metainfer/tiny-qwen3', `path: ${weights}/metainfer/tiny-qwen3`);
    writeFileSync(join(folder, 'constraints.yaml'), text);
    const { code, result } = await judge(folder);
    expect([code, result.failure?.code]).toEqual([2, 'CONSTRAINTS_INVALID']);
    expect(result.failure?.message).toContain('model.path');
  });

  it('because the operator has no such weights does not tell where they would lie', async () => {
    const empty = join(cli.folder, 'no-weights');
    mkdirSync(empty);
    const { code, result } = await judge(engine, { environment: { METAINFER_WEIGHTS: empty } });
    expect([code, result.failure?.code]).toEqual([2, 'CHECKPOINT_INVALID']);
    expect(result.failure?.message).toContain('metainfer/tiny-qwen3');
    expect(result.failure?.message).not.toContain(cli.folder);
  });

  it('because a file is a link, and what it leads to is not read', async () => {
    const folder = copyEngine('linked');
    const secret = join(cli.folder, 'secret.txt');
    writeFileSync(secret, 'secret: hunter2\n');
    rmSync(join(folder, 'constraints.yaml'));
    symlinkSync(secret, join(folder, 'constraints.yaml'));
    const { code, result, read } = await judge(folder);
    expect([code, result.failure?.code, result.treeSha256]).toEqual([2, 'ENGINE_INVALID', null]);
    expect(result.failure?.message).toContain('constraints.yaml is a link');
    expect(read('log.txt')).not.toContain('hunter2');
  });

  it('because foreign code may not run here without a sandbox ends with 3', async () => {
    const folder = copyEngine('foreign');
    appendFileSync(join(folder, 'kv_cache.cpp'), '\nint unasked;\n');
    const { code, result } = await judge(folder, { environment: { METAINFER_SANDBOX: 'off' } });
    expect([code, result.failure?.code]).toEqual([3, 'SANDBOX_UNAVAILABLE']);
    expect(result.failure?.message).not.toContain(cli.folder);
  });

  it('because the commit has no such folder', async () => {
    const { code, result } = await judge(join(cli.folder, 'nowhere'));
    expect([code, result.failure?.code]).toEqual([2, 'ENGINE_INVALID']);
  });
});

describe('a command line that is wrong', () => {
  it.each([
    [['--request-id', '../x'], '--request-id is "../x"'],
    [['--engine-commit', 'main'], '--engine-commit is "main"'],
    [['--constraints-sha256', 'abc'], '--constraints-sha256 is "abc"'],
    [['--labels', 'x64'], '--labels is x64; expected a JSON list'],
    [['--baseline', 'vllm'], '--baseline is "vllm"'],
  ])('is refused before anything is read: %s', async (more, message) => {
    await expect(judge(engine, { more })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(message),
    });
  });
});
