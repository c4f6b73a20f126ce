import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CoverageMatrix } from '../../src/model/coverage.ts';
import type { Report } from '../../src/model/report.ts';
import { hashEngineTree } from '../../src/verification/engine-tree.ts';
import { CommandLine } from '../fixtures/command-line.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
const root = join(import.meta.dirname, '../..');

describe('the commands that show knowledge', () => {
  it('print a command that makes the very engine of the report behind each verified cell', async () => {
    const { code, stdout } = await cli.run(['knowledge', 'coverage', '--json']);
    expect(code).toBe(0);
    const { rows, parts } = JSON.parse(stdout) as CoverageMatrix;
    const verified = rows.flatMap(({ cells }) => cells.filter(({ state }) => state === 'verified'));
    const runs = new Map(
      verified.flatMap((cell) => cell.parts.map((key) => [parts[key]!.report!, parts[key]!.repeat] as const)),
    );
    expect(runs.size).toBeGreaterThan(0);
    for (const [file, [generate = '']] of runs) {
      const report = JSON.parse(readFileSync(join(root, file), 'utf8')) as Report;
      const example = /generate (\S+) /.exec(generate)![1]!;
      const folder = join(cli.folder, report.engine.name);
      const made = await cli.run(['generate', join(root, example), '-o', folder]);
      expect([made.code, hashEngineTree(folder)]).toEqual([0, report.engine.treeSha256]);
    }
  });

  it('print Markdown with every state of the matrix explained', async () => {
    const { stdout } = await cli.run(['knowledge', 'coverage', '--markdown']);
    expect(stdout).toMatch(/^## Coverage\n/);
    for (const state of ['verified', 'composed', 'agents only', 'missing'])
      expect(stdout).toContain(`- *${state}*:`);
  });

  it('write the picture where they are told, and refuse a platform that is not there', async () => {
    const out = join(cli.folder, 'graph.svg');
    expect((await cli.run(['knowledge', 'graph', '--platform', 'cuda', '--out', out])).code).toBe(0);
    expect(readFileSync(out, 'utf8')).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    const wrong = await cli.run(['knowledge', 'graph', '--platform', 'cdua']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Did you mean cuda?')]);
    const nowhere = await cli.run(['knowledge', 'graph', '--out', join(cli.folder, 'no/such/folder.svg')]);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('folder that exists')]);
  });

  it('explain a contract, and suggest one for a name that is none', async () => {
    const { code, stdout } = await cli.run(['knowledge', 'explain', 'norm.rms']);
    expect(code).toBe(0);
    for (const part of [
      'Interface:',
      'Needed by:',
      'cuda.cu has no run on cuda',
      'fm-22',
      'repeat with: npx',
    ])
      expect(stdout).toContain(part);
    const wrong = await cli.run(['knowledge', 'explain', 'nrom.rms']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Did you mean norm.rms?')]);
  });

  it('write a skeleton once, and touch nothing that is there', async () => {
    const knowledge = join(cli.folder, 'knowledge');
    mkdirSync(join(knowledge, 'contracts'), { recursive: true });
    const args = ['knowledge', 'new', 'mlp.experts', '--knowledge', knowledge];
    expect((await cli.run(args)).code).toBe(0);
    expect(existsSync(join(knowledge, 'contracts/mlp-experts/mlp_experts.h'))).toBe(true);
    const again = await cli.run(args);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists already')]);
    const check = await cli.run(['knowledge', 'check', knowledge]);
    expect([check.code, check.stdout]).toEqual([2, expect.stringContaining('still to be written')]);
    const bad = await cli.run(['knowledge', 'new', '../evil', '--knowledge', knowledge]);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('no id of a contract')]);
  });

  it('say of a request that is not covered what would cover it', async () => {
    const { code, stderr } = await cli.run([
      'plan',
      join(root, 'test/fixtures/constraints/16-not-covered-yet.yaml'),
    ]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/The least that would cover it: code for /);
    expect(stderr).toContain('To write: `knowledge/platforms/hip.yaml`');
  });
});
