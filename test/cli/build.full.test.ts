import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { gateNames, type Report } from '../../src/model/report.ts';
import type { RunState } from '../../src/model/run.ts';
import { CommandLine } from '../fixtures/command-line.ts';
import { logitsAgainstReference } from '../fixtures/command-line-logits.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';
import { isLacking } from '../fixtures/needed-tool.ts';
import { checkpointNames, readReferenceCheckpoint } from '../fixtures/reference-checkpoint.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
vi.setConfig({ testTimeout: 1_200_000 });
const formats = ['bf16', 'f32'] as const;
/** Of what differs from another row by a few contracts only, one format is enough. */
const onceOnly: Readonly<Record<string, (typeof formats)[number]>> = { 'qwen3-moe': 'bf16', gemma2: 'f32' };
const cases = checkpointNames.flatMap((name) =>
  formats.filter((weights) => (onceOnly[name] ?? weights) === weights).map((weights) => ({ name, weights })),
);

interface Built {
  readonly run: RunState;
  readonly report: Report;
  readonly statePath: string;
}

function constraintsFor(name: (typeof checkpointNames)[number], weights: 'bf16' | 'f32'): string {
  const path = join(cli.folder, `${name}-${weights}.yaml`);
  const model = { path: readReferenceCheckpoint(name).folder };
  return writeConstraintFile(path, { name: `${name}-${weights}`, model, weights, maxContext: 512 });
}

/** What stopped an engine, so that a red test says it. */
function complaints(report: Report): readonly string[] {
  return report.gates.flatMap((gate) => gate.findings.map((finding) => `${gate.gate}: ${finding.message}`));
}

describe.each(cases)('metainfer build of $name with $weights weights', ({ name, weights }) => {
  const folder = join(cli.folder, `${name}-${weights}`);

  it('passes every gate and says what it measured', async () => {
    const { code, stdout } = await cli.run(['build', constraintsFor(name, weights), '-o', folder, '--json']);
    const { run, report } = JSON.parse(stdout) as Built;
    expect(complaints(report)).toEqual([]);
    expect([code, run.status, report.verdict]).toEqual([0, 'passed', 'passed']);
    expect(report.gates.map((gate) => gate.gate)).toEqual([...gateNames]);
    for (const gate of report.gates) expect(['passed', 'not-applicable']).toContain(gate.status);
    expect(report.benchmark).not.toBeNull();
  });

  it('gives the logits of the PyTorch program within 1e-3', async () => {
    expect(await logitsAgainstReference(cli, folder, name)).toBeLessThanOrEqual(1e-3);
  });
});

describe('a run that is stopped and taken up again', () => {
  it('reaches the verdict of the run in one go, on the same engine', async () => {
    const file = constraintsFor('tiny-qwen3', 'bf16');
    const state = join(cli.folder, 'stopped.json');
    const common = ['--seed', '11', '--baseline', 'none', '--json'];
    const start = ['--state', state, '-o', join(cli.folder, 'stopped'), '--stop-after', 'verify'];
    const stopped = await cli.run(['build', file, ...start, ...common]);
    expect(stopped.code).toBe(0);
    expect(JSON.parse(stopped.stdout)).toMatchObject({ run: { status: 'running', next: 'bench' } });
    const resumed = await cli.run(['build', '--resume', state, ...common]);
    const direct = await cli.run(['build', file, '-o', join(cli.folder, 'direct'), ...common]);
    const [left, right] = [JSON.parse(resumed.stdout) as Built, JSON.parse(direct.stdout) as Built];
    expect([resumed.code, direct.code]).toEqual([0, 0]);
    expect(left.run.status).toBe(right.run.status);
    expect(left.report.engine).toEqual(right.report.engine);
    const outcomes = ({ report }: Built) => report.gates.map(({ gate, status }) => [gate, status]);
    expect(outcomes(left)).toEqual(outcomes(right));
  });
});

describe('an engine folder', () => {
  it.skipIf(isLacking('cmake'))('is built by its own CMakeLists.txt and runs (needs cmake)', async () => {
    const folder = join(cli.folder, 'by-hand');
    const { code } = await cli.run(['generate', constraintsFor('tiny-qwen3', 'bf16'), '-o', folder]);
    expect(code).toBe(0);
    const build = join(folder, 'build');
    execFileSync('cmake', ['-S', folder, '-B', build], { stdio: 'pipe' });
    execFileSync('cmake', ['--build', build, '-j', '2'], { stdio: 'pipe' });
    const binary = ['tiny-qwen3-bf16', 'engine'].map((name) => join(build, name)).find(existsSync);
    expect(binary).toBeDefined();
    const checkpoint = readReferenceCheckpoint('tiny-qwen3').folder;
    const args = [checkpoint, '--prompt', 'The fs module', '--max-tokens', '8'];
    const text = execFileSync(binary!, args, { encoding: 'utf8' });
    const { stdout } = await cli.run(['run', folder, ...args.slice(1), '--quiet']);
    expect(text.trim().length).toBeGreaterThan(0);
    expect(stdout.trim()).toBe(text.trim());
  });

  it('finds its weights by --weights where its checkpoint was moved', async () => {
    const moved = join(cli.folder, 'moved');
    cpSync(readReferenceCheckpoint('qwen2').folder, moved, { recursive: true });
    const file = join(cli.folder, 'moved.yaml');
    writeConstraintFile(file, { name: 'moved', model: { path: moved } });
    const folder = join(cli.folder, 'moved-engine');
    expect((await cli.run(['generate', file, '-o', folder])).code).toBe(0);
    cpSync(moved, join(cli.folder, 'elsewhere'), { recursive: true });
    writeFileSync(join(moved, 'config.json'), '{');
    expect((await cli.run(['run', folder, '--ids', '1,2'])).code).toBe(2);
    const args = [
      'run',
      folder,
      '--ids',
      '1,2',
      '--max-tokens',
      '2',
      '--weights',
      join(cli.folder, 'elsewhere'),
    ];
    expect((await cli.run(args)).code).toBe(0);
  });
});

describe('the demo', () => {
  it('prints plan, verdict and a continuation, and ends with code 0', async () => {
    const { code, stdout } = await cli.run(['demo'], { cwd: cli.folder });
    expect([code, stdout]).toEqual([0, expect.stringContaining('The engine continues a prompt')]);
    expect(stdout).toContain('## Plan: tiny-qwen3');
    expect(stdout.split('prompt: ')[1]!.length).toBeGreaterThan(150);
  });
});
