import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { CommandLine } from '../fixtures/command-line.ts';
import { isLacking } from '../fixtures/needed-tool.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
const example = join(packageRoot(), 'knowledge/examples/tiny-qwen3.yaml');
const lacksBubblewrap = isLacking('bubblewrap');

/** The machine with something laid over it; node stays where it is. */
function machineWith(...changes: readonly string[]): readonly string[] {
  return ['/usr/bin/bwrap', '--dev-bind', '/', '/', ...changes];
}
const withoutSystemTools = machineWith(
  '--tmpfs',
  '/usr/bin',
  '--ro-bind',
  process.execPath,
  process.execPath,
);

describe('exit code', () => {
  it('0 and whole JSON come from `knowledge check` on the shipped knowledge', async () => {
    const { code, stdout } = await cli.run(['knowledge', 'check', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ catalogSha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  it('1 comes from an engine whose verification fails, with the changed file in report.json and in the JSON', async () => {
    const folder = join(cli.folder, 'changed');
    expect((await cli.run(['generate', example, '-o', folder])).code).toBe(0);
    const path = join(folder, 'norm_rms.cpp');
    writeFileSync(path, readFileSync(path, 'utf8').replace('#include', '// touched\n#include'));
    const { code, stdout } = await cli.run(['verify', folder, '--seed', '5', '--json']);
    expect(code).toBe(1);
    const report: unknown = JSON.parse(stdout);
    expect(report).toMatchObject({ verdict: 'failed', inputs: { runSeed: 5 } });
    expect(JSON.stringify(report)).toContain('norm_rms.cpp differs from what the composer wrote');
    expect(JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'))).toEqual(report);
    const bench = await cli.run(['bench', folder]);
    expect([bench.code, bench.stderr]).toEqual([2, expect.stringContaining('failed verification (static)')]);
  });

  it('2 comes from `knowledge check` on a folder whose contracts contradict each other', async () => {
    const root = join(cli.folder, 'knowledge');
    mkdirSync(join(root, 'contracts/norm-rms'), { recursive: true });
    writeFileSync(join(root, 'contracts/norm-rms/contract.md'), '---\nid: norm.other\n---\n');
    const { code, stdout } = await cli.run(['knowledge', 'check', root]);
    expect([code, stdout]).toEqual([2, expect.stringContaining('norm-rms')]);
  });

  it('3 comes from `doctor` and, first thing, from `demo` where no tool is on the path', async () => {
    const environment = { PATH: '/nonexistent' };
    const doctor = await cli.run(['doctor', '--json'], { environment });
    expect(doctor.code).toBe(3);
    const { findings } = JSON.parse(doctor.stdout) as { findings: { name: string; status: string }[] };
    expect(findings).toContainEqual(expect.objectContaining({ name: 'g++', status: 'missing' }));
    const demo = await cli.run(['demo'], { environment });
    expect([demo.code, demo.stdout]).toEqual([3, '']);
    expect(demo.stderr).toMatch(/This machine lacks something:\n- g\+\+ not found.*apt-get install g\+\+/);
  });

  it.skipIf(lacksBubblewrap)(
    '3 comes from `verify` and `run` where the compiler is missing (needs bubblewrap to hide it)',
    async () => {
      const folder = join(cli.folder, 'no-compiler');
      expect((await cli.run(['generate', example, '-o', folder])).code).toBe(0);
      for (const args of [
        ['verify', folder, '--json'],
        ['run', folder, '--ids', '1', '--json'],
      ]) {
        const { code, stdout } = await cli.run(args, { wrapper: withoutSystemTools });
        expect(code).toBe(3);
        expect(JSON.parse(stdout)).toEqual({
          error: { code: 'TOOL_MISSING', message: expect.stringContaining('/usr/bin/g++ is not installed') },
        });
      }
    },
  );

  it.skipIf(lacksBubblewrap)(
    '4 comes from a program whose own knowledge is damaged, and names the file (needs bubblewrap to damage it)',
    async () => {
      const broken = join(cli.folder, 'broken.yaml');
      writeFileSync(broken, 'family: [');
      const target = join(packageRoot(), 'knowledge/models/llama.yaml');
      const wrapper = machineWith('--ro-bind', broken, target);
      const { code, stdout } = await cli.run(['plan', example, '--json'], { wrapper });
      expect(code).toBe(4);
      expect(JSON.parse(stdout)).toEqual({
        error: { code: 'KNOWLEDGE_INVALID', message: expect.stringContaining('models/llama.yaml') },
      });
    },
  );
});
