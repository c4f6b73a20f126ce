import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdRun } from '../../src/cli/hold-run.ts';
import type { RunState } from '../../src/model/run.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { CommandLine } from '../fixtures/command-line.ts';
import { selectionFor, tinyRequest } from '../local/agents/agent-build.ts';
import { repliesFromKnowledge } from '../support/model-server/knowledge-replies.ts';
import { type ModelServer, startModelServer } from '../support/model-server/model-server.ts';

const cli = new CommandLine();
const state = join(cli.folder, 'run.json');
const file = join(cli.folder, 'tiny.yaml');
let server: ModelServer;
let isRefusing = true;

beforeAll(async () => {
  const selection = await selectionFor(tinyRequest, await openKnowledge(cli.cache));
  server = await startModelServer({
    replies: repliesFromKnowledge(selection),
    script: () => (isRefusing ? 'key-refused' : undefined),
  });
  writeFileSync(file, JSON.stringify({ ...tinyRequest, generation: { mode: 'zero-reference' } }));
});
afterAll(async () => {
  cli.close();
  await server.close();
});

const readState = () => JSON.parse(readFileSync(state, 'utf8')) as RunState;
const model = () => ['--llm', server.baseUrl, '--model', server.model, '--baseline', 'none'];
const build = (...more: string[]) =>
  cli.run(['build', file, '--state', state, '-o', join(cli.folder, 'engine'), ...more]);
const resume = (...more: string[]) => cli.run(['build', '--resume', state, '--baseline', 'none', ...more]);

describe('a run that agents could not go on with', () => {
  it('says where it is kept, goes on once what was missing is there, and then keeps to the limit given last', async () => {
    const bare = await build();
    expect([bare.code, bare.stdout]).toEqual([2, expect.stringContaining(`--resume ${state}`)]);
    expect(bare.stdout).toContain('--llm');

    const refused = await resume(...model());
    expect([refused.code, readState().failure?.code]).toEqual([3, 'MODEL_UNAVAILABLE']);
    expect(refused.stdout).toContain(`--resume ${state}`);

    isRefusing = false;
    const poor = await resume(...model(), '--budget', '25000');
    expect([poor.code, readState().failure?.code]).toEqual([2, 'BUDGET_EXHAUSTED']);
    const asked = server.count().delivered;
    expect(server.count().tokens).toBeLessThanOrEqual(25_000);

    const forgetful = await resume();
    expect([forgetful.code, server.count().delivered]).toEqual([2, asked]);
    expect(forgetful.stdout).toContain('--llm');

    const more = await resume(...model(), '--budget', '50000');
    expect([more.code, readState().failure?.code]).toEqual([2, 'BUDGET_EXHAUSTED']);
    expect(server.count().delivered).toBeGreaterThan(asked);
    expect(server.count().tokens).toBeLessThanOrEqual(50_000);
  });

  it('belongs to one process at a time', async () => {
    const release = await holdRun(state, readState().folder);
    const second = await resume(...model(), '--budget', '60000');
    await release();
    expect([second.code, second.stderr + second.stdout]).toEqual([
      2,
      expect.stringContaining('Another process works on the run'),
    ]);
  });

  it('refuses a place where it cannot be kept in words', async () => {
    const end = await cli.run(['build', file, '--state', join(file, 'run.json'), ...model()]);
    expect([end.code, end.stderr + end.stdout]).toEqual([2, expect.stringContaining('cannot be saved')]);
  });
});
