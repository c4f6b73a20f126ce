import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { countCodeLines } from '../../src/verification/gates/static.ts';
import { CommandLine, readTree, waitForEnd } from '../fixtures/command-line.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
const example = join(packageRoot(), 'knowledge/examples/tiny-qwen3.yaml');
const cases = join(packageRoot(), 'test/fixtures/constraints');

describe('metainfer plan', () => {
  it('gives the same bytes twice, as text and as JSON', async () => {
    for (const args of [
      ['plan', example, '--bandwidth', '20', '--flops', '100'],
      ['plan', example, '--json'],
    ]) {
      const [first, second] = [await cli.run(args), await cli.run(args)];
      expect(first.code).toBe(0);
      expect(first.stdout.length).toBeGreaterThan(1000);
      expect(second.stdout).toBe(first.stdout);
    }
  });

  it('states the limit for a stated bandwidth', async () => {
    const { stdout } = await cli.run(['plan', example, '--bandwidth', '20', '--flops', '100', '--json']);
    const { limit, missing } = JSON.parse(stdout) as {
      limit: { decode: Record<string, unknown> };
      missing: string[];
    };
    expect(missing).toEqual([]);
    const numbers = JSON.stringify(limit).match(/\d+(?:\.\d+)?/g) ?? [];
    expect(numbers.length).toBeGreaterThan(2);
    expect(JSON.stringify(limit)).toContain('stated');
  });

  it('reports every problem of a file at once, each with line and column', async () => {
    const { code, stderr } = await cli.run(['plan', join(cases, '10-unknown-keys.yaml')]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/10-unknown-keys\.yaml:10:\d+.*thread.*threads/);
    expect(stderr).toMatch(/10-unknown-keys\.yaml:14:\d+.*kv-cache.*kv_cache/);
  });

  it('says "not covered yet" of what is reserved, and "unknown" of what is not', async () => {
    const reserved = await cli.run(['plan', join(cases, '16-not-covered-yet.yaml'), '--json']);
    expect(reserved.code).toBe(2);
    expect(JSON.parse(reserved.stdout)).toMatchObject({ error: { code: 'NOT_COVERED' } });
    const unknown = await cli.run(['plan', join(cases, '17-unknown-platform.yaml'), '--json']);
    expect(unknown.code).toBe(2);
    expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: 'CONSTRAINTS_INVALID' } });
  });

  it('says what agents would write and cost where a language model is named, and how to name one where not', async () => {
    const path = writeConstraintFile(join(cli.folder, 'agents.yaml'), {
      ...{ name: 'agents', model: { id: 'Qwen/Qwen3-0.6B' }, mode: 'zero-reference' },
    });
    const without = await cli.run(['plan', path]);
    expect(without.code).toBe(2);
    expect(without.stdout).toContain(
      '22 contracts are for agents to write (generation.mode: zero-reference)',
    );
    const settings = join(cli.folder, 'llm.yaml');
    writeFileSync(
      settings,
      'base_url: http://127.0.0.1:9/v1\nmodel: small\nprices: { small: { input: 1, output: 2 } }\nlimits: { hard_tokens: 9000 }\n',
    );
    const { code, stdout } = await cli.run(['plan', path, '--llm', settings]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\| \*\*Total\*\* .* tokens, about 0\.\d\d USD \|/);
    expect(stdout).toContain('The limit of this run is 9,000 tokens.\n- **More than the limit**');
    const refused = await cli.run(['generate', path, '-o', join(cli.folder, 'never')]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('`metainfer build --llm` on the command line');
  });

  it('names the folder that is missing where weights are asked for', async () => {
    const path = join(cli.folder, 'weights.yaml');
    const text = readFileSync(join(packageRoot(), 'knowledge/examples/qwen3-0.6b.yaml'), 'utf8');
    writeFileSync(path, text.replace(/source: synthetic\n\s+seed: \d+/, 'source: checkpoint'));
    const unset = await cli.run(['plan', path]);
    expect([unset.code, unset.stderr]).toEqual([2, expect.stringContaining('METAINFER_WEIGHTS is not set')]);
    const environment = { METAINFER_WEIGHTS: cli.folder };
    const absent = await cli.run(['plan', path], { environment });
    expect([absent.code, absent.stderr]).toEqual([2, expect.stringContaining('Qwen/Qwen3-0.6B')]);
  });

  it('ends quietly when nobody reads its output any more', async () => {
    const child = cli.start(['plan', example, '--json']);
    child.stdout?.destroy();
    const { code, stderr } = await waitForEnd(child);
    expect([code, stderr]).toEqual([0, '']);
  });
});

describe('metainfer generate', () => {
  it('writes the same bytes twice, also over what it wrote before, and no line of progress with control codes', async () => {
    const [first, second] = [join(cli.folder, 'first'), join(cli.folder, 'second')];
    const report = await cli.run(['generate', example, '-o', first, '--json']);
    expect(report.code).toBe(0);
    const data = JSON.parse(report.stdout) as { folder: string; files: string[]; lineCount: number };
    const tree = readTree(first);
    expect(data.files.toSorted()).toEqual(Object.keys(tree).toSorted());
    expect(data.folder).toBe(first);
    await cli.run(['generate', example, '-o', second]);
    expect(readTree(second)).toEqual(tree);
    const again = await cli.run(['generate', example, '-o', first]);
    expect([again.code, again.stderr.includes('\r')]).toEqual([0, false]);
    expect(readTree(first)).toEqual(tree);
    // Nothing of the machine may be in the bytes: the other folder's name would be the first to show.
    for (const text of Object.values(tree)) expect(text).not.toContain(cli.folder);
  });

  it('keeps a dense f32 engine within 2,500 lines of C++ code', async () => {
    const file = writeConstraintFile(join(cli.folder, 'f32.yaml'), {
      name: 'tiny-f32',
      model: { path: join(packageRoot(), 'test/fixtures/checkpoints/tiny-qwen3') },
      weights: 'f32',
    });
    const engine = join(cli.folder, 'f32');
    await cli.run(['generate', file, '-o', engine]);
    const sources = readdirSync(engine).filter((name) => /\.(?:h|cpp)$/.test(name));
    const lines = sources.map((name) => countCodeLines(readFileSync(join(engine, name), 'utf8')));
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(2500);
  });

  it('refuses a folder that it did not write, and leaves it alone', async () => {
    const foreign = join(cli.folder, 'foreign');
    mkdirSync(foreign);
    writeFileSync(join(foreign, 'thesis.txt'), 'the only copy');
    const { code, stderr } = await cli.run(['generate', example, '-o', foreign]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('was not written by this program')]);
    expect(readTree(foreign)).toEqual({ 'thesis.txt': 'the only copy' });
  });

  it("refuses an engine folder that holds somebody's file, and names the file", async () => {
    const folder = join(cli.folder, 'with-notes');
    await cli.run(['generate', example, '-o', folder]);
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    const { code, stderr } = await cli.run(['generate', example, '-o', folder]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('notes.txt')]);
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('mine');
  });

  it('writes nothing where the file has a problem', async () => {
    const folder = join(cli.folder, 'nothing');
    const { code } = await cli.run(['generate', join(cases, '25-tp-heads.yaml'), '-o', folder]);
    expect([code, existsSync(folder)]).toEqual([2, false]);
    expect(readdirSync(cli.folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('stops in a pipeline whose reader has gone, with code 0', async () => {
    const child = spawn(
      'bash',
      [
        '--norc',
        '-c',
        'set -o pipefail; "$@" | true',
        'bash',
        ...cli.commandOf(['generate', example, '--json']),
      ],
      { env: { PATH: process.env.PATH, METAINFER_CACHE: cli.cache }, cwd: cli.folder },
    );
    const { code, stderr } = await waitForEnd(child);
    expect([code, stderr]).toEqual([0, '']);
  });
});
