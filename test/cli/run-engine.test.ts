import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine } from '../fixtures/command-line.ts';
import { logitsAgainstReference } from '../fixtures/command-line-logits.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';
import { type CheckpointName, readReferenceCheckpoint } from '../fixtures/reference-checkpoint.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
const folders: Partial<Record<CheckpointName, string>> = {};

async function generate(name: CheckpointName): Promise<string> {
  const known = folders[name];
  if (known !== undefined) return known;
  const file = writeConstraintFile(join(cli.folder, `${name}.yaml`), {
    name,
    model: { path: readReferenceCheckpoint(name).folder },
    maxContext: 512,
  });
  const folder = join(cli.folder, name);
  const { code, stderr } = await cli.run(['generate', file, '-o', folder]);
  expect([code, stderr]).toEqual([0, '']);
  folders[name] = folder;
  return folder;
}

describe.each(['tiny-qwen3', 'llama3-scaled'] as const)('metainfer run on %s', (name) => {
  it('writes logits within 1e-3 of the PyTorch program that made the checkpoint', async () => {
    expect(await logitsAgainstReference(cli, await generate(name), name)).toBeLessThanOrEqual(1e-3);
  });
});

describe('metainfer run', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await generate('tiny-qwen3');
  });

  it('streams the continuation to stdout and gives the same text for the same seed', async () => {
    const args = ['run', folder, '--prompt', 'The fs module', '--max-tokens', '24', '--quiet'];
    const sampled = [...args, '--temperature', '0.8', '--seed', '3'];
    const [first, second] = [await cli.run(sampled), await cli.run(sampled)];
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(first.stdout.length).toBeGreaterThan(20);
    expect(second.stdout).toBe(first.stdout);
    expect((await cli.run([...args, '--temperature', '0.8', '--seed', '4'])).stdout).not.toBe(first.stdout);
  });

  it('gives the text as JSON, once, with the time that it took', async () => {
    const { code, stdout } = await cli.run(['run', folder, '--ids', '1,2,3', '--max-tokens', '4', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      text: expect.any(String),
      seconds: expect.any(Number),
      peakRssBytes: expect.any(Number),
    });
  });

  it.each([
    [['--ids', '1,999999'], '999999'],
    [['--ids', '1,x'], 'ids'],
    [['--ids', '1', '--temperature', 'warm'], 'temperature'],
    [['--ids', '1', '--top-p', '1.5'], 'top-p'],
  ] as const)('passes on what the engine refuses, with code 2: %s', async (options, says) => {
    const { code, stderr } = await cli.run(['run', folder, ...options]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });

  it('ends with code 4 where the engine crashes', async () => {
    const path = join(folder, 'interface_cli.cpp');
    const source = readFileSync(path, 'utf8');
    try {
      const main = /int main\([^)]*\)\s*(?:try\s*)?\{/.exec(source)?.[0];
      expect(main).toBeDefined();
      writeFileSync(path, source.replace(main!, `${main} __builtin_trap();`));
      const { code, stdout } = await cli.run(['run', folder, '--ids', '1', '--json']);
      expect([code, JSON.parse(stdout)]).toMatchObject([4, { error: { code: 'ENGINE_CRASHED' } }]);
    } finally {
      writeFileSync(path, source);
    }
  });
});
