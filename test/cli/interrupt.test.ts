import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { checkProvenance } from '../../src/generation/check-provenance.ts';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { CommandLine, processesWith, waitForEnd } from '../fixtures/command-line.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';

// Compilers have to be at work when the signal comes.
const cli = new CommandLine({ hasEmptyCache: true });
afterAll(() => cli.close());
const example = writeConstraintFile(join(cli.folder, 'llama.yaml'), {
  name: 'llama',
  model: { path: join(packageRoot(), 'test/fixtures/checkpoints/llama-default') },
});

async function until(isTrue: () => boolean, child: ChildProcess): Promise<void> {
  while (!isTrue()) {
    if (child.exitCode !== null) throw new Error(`the program ended before, with code ${child.exitCode}`);
    await sleep(20);
  }
}

function list(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).toSorted() : [];
}

describe('Ctrl-C', () => {
  it('during generate leaves a whole engine or none, whenever it comes', async () => {
    for (const milliseconds of [50, 400, 800, 1200, 1600]) {
      const root = join(cli.folder, `generate-${milliseconds}`);
      const child = cli.start(['generate', example, '-o', join(root, 'engine')]);
      const ended = waitForEnd(child);
      await sleep(milliseconds);
      child.kill('SIGINT');
      const { code } = await ended;
      // null: it came before the program listens to it.
      expect([null, 130, 0]).toContain(code);
      expect(list(root).filter((name) => name !== 'engine')).toEqual([]);
      if (existsSync(join(root, 'engine'))) {
        expect((await checkProvenance(join(root, 'engine'))).problems).toEqual([]);
      }
    }
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'during weights synth leaves nothing of the folder (%s)',
    async (signal) => {
      const root = join(cli.folder, `weights-${signal}`);
      const child = cli.start(['weights', 'synth', 'Qwen/Qwen3-0.6B', '-o', join(root, 'model')]);
      const ended = waitForEnd(child);
      await until(() => list(root).length > 0, child);
      child.kill(signal);
      expect((await ended).code).toBe(130);
      expect(list(root)).toEqual([]);
    },
  );

  it('during verify ends the compilers, removes the scratch folders and writes no report', async () => {
    const folder = join(cli.folder, 'engine');
    expect((await cli.run(['generate', example, '-o', folder])).code).toBe(0);
    const child = cli.start(['verify', folder]);
    const ended = waitForEnd(child);
    await until(
      () => [...processesWith(cli.cache).values()].some((line) => /g\+\+|cc1plus/.test(line)),
      child,
    );
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+/m);
    expect([...processesWith(cli.folder).values()]).toEqual([]);
    const left = list(join(cli.cache, 'objects')).filter((name) =>
      /^(?:scratch|verify|unit|sanit)/.test(name),
    );
    expect(left).toEqual([]);
    expect(list(folder)).not.toContain('report.json');
    expect((await checkProvenance(folder)).problems).toEqual([]);
  });

  it('leaves a run where it was, so that it can be taken up again', async () => {
    const state = join(cli.folder, 'run.json');
    const child = cli.start(['build', example, '--state', state, '-o', join(cli.folder, 'run')]);
    const ended = waitForEnd(child);
    await until(
      () => [...processesWith(cli.cache).values()].some((line) => /g\+\+|cc1plus/.test(line)),
      child,
    );
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    expect([...processesWith(cli.folder).values()]).toEqual([]);
    const text = readFileSync(state, 'utf8');
    expect(JSON.parse(text)).toMatchObject({ status: 'running', next: 'verify' });
  });
});
