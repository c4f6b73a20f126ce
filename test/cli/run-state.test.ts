import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunState } from '../../src/model/run.ts';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { CommandLine, readTree } from '../fixtures/command-line.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
const checkpoint = join(packageRoot(), 'test/fixtures/checkpoints/tiny-qwen3');
const place = (name: string): string => join(cli.folder, name);
const file = writeConstraintFile(place('tiny.yaml'), { name: 'tiny', model: { path: checkpoint } });

function readState(name: string): RunState {
  return JSON.parse(readFileSync(place(name), 'utf8')) as RunState;
}

/** What must be the same whichever way a run came to its step. */
function essence(state: RunState): object {
  return { ...state, id: '', folder: '', wallSeconds: 0 };
}

describe('the saved state of `metainfer build`', () => {
  it('leads to the same engine step by step as in one go', async () => {
    const go = ['--state', place('go.json'), '-o', place('go'), '--stop-after', 'generate'];
    const direct = await cli.run(['build', file, ...go]);
    expect([direct.code, direct.stdout]).toEqual([0, expect.stringContaining('Stopped before "verify"')]);

    const state = place('steps.json');
    const first = ['--state', state, '-o', place('steps'), '--stop-after', 'constraints'];
    expect((await cli.run(['build', file, ...first])).code).toBe(0);
    expect([readState('steps.json').next, existsSync(place('steps'))]).toEqual(['plan', false]);
    expect((await cli.run(['build', '--resume', state, '--stop-after', 'plan'])).code).toBe(0);
    expect(readState('steps.json').next).toBe('generate');
    const last = await cli.run(['build', '--resume', state, '--stop-after', 'generate', '--json']);
    expect(last.code).toBe(0);
    expect(JSON.parse(last.stdout)).toMatchObject({
      run: { next: 'verify' },
      report: null,
      statePath: state,
    });

    expect(essence(readState('steps.json'))).toEqual(essence(readState('go.json')));
    expect(readTree(place('steps'))).toEqual(readTree(place('go')));
  });

  it('does not need the constraint file any more', async () => {
    const state = place('kept.json');
    const copy = writeConstraintFile(place('copy.yaml'), { name: 'tiny', model: { path: checkpoint } });
    const options = ['--state', state, '-o', place('kept'), '--stop-after', 'plan'];
    expect((await cli.run(['build', copy, ...options])).code).toBe(0);
    writeFileSync(copy, 'changed since: yes\n');
    expect((await cli.run(['build', '--resume', state, '--stop-after', 'generate'])).code).toBe(0);
    expect(existsSync(place('kept/provenance.yaml'))).toBe(true);
  });

  it('is refused where it is cut off or names no run', async () => {
    for (const text of ['{"version": 1, "id": "ru', '{"version": 1}', '[]', '']) {
      writeFileSync(place('broken.json'), text);
      const { code, stdout } = await cli.run(['build', '--resume', place('broken.json'), '--json']);
      expect([code, JSON.parse(stdout)]).toMatchObject([2, { error: { code: 'RUN_STATE_INVALID' } }]);
    }
  });

  it('does not go on with another plan than it was made for', async () => {
    cpSync(checkpoint, place('checkpoint'), { recursive: true });
    const own = writeConstraintFile(place('own.yaml'), { name: 'own', model: { path: place('checkpoint') } });
    const state = place('own.json');
    const options = ['--state', state, '-o', place('own'), '--stop-after', 'plan'];
    expect((await cli.run(['build', own, ...options])).code).toBe(0);
    const path = place('checkpoint/config.json');
    const config = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    writeFileSync(path, JSON.stringify({ ...config, max_position_embeddings: 1024 }));
    const { code, stdout } = await cli.run(['build', '--resume', state, '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      run: { status: 'failed', failure: { step: 'generate', code: 'RUN_STATE_INVALID' } },
    });
    expect(existsSync(place('own'))).toBe(false);
  });

  it('does not judge another engine than it generated', async () => {
    const state = place('swapped.json');
    const options = ['--state', state, '-o', place('swapped'), '--stop-after', 'generate'];
    expect((await cli.run(['build', file, ...options])).code).toBe(0);
    writeFileSync(place('swapped/config.h'), '#pragma once\n');
    const { code, stderr, stdout } = await cli.run(['build', '--resume', state]);
    expect(code).toBe(2);
    expect(stderr + stdout).toContain('no longer what this run generated');
    const again = await cli.run(['build', '--resume', state]);
    expect([again.code, again.stdout]).toEqual([2, expect.stringContaining('failed at "verify"')]);
  });
});
