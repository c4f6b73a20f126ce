import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunState } from '../../../src/model/run.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { CommandLine, waitForEnd } from '../../fixtures/command-line.ts';
import { repliesFromKnowledge } from '../../support/model-server/knowledge-replies.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/model-server.ts';
import { selectionFor, tinyRequest } from './agent-build.ts';

const cli = new CommandLine();
const statePath = join(cli.folder, 'run.json');
const calls = join(cli.folder, 'run.agents', 'calls');
const contractFolders = join(cli.cache, 'contracts');
let server: ModelServer;
let file: string;

beforeAll(async () => {
  const selection = await selectionFor(tinyRequest, await openKnowledge(cli.cache));
  server = await startModelServer({
    replies: repliesFromKnowledge(selection),
    // The first is slow enough to be killed in the middle of its stream.
    script: [{ name: 'slow', pauseMs: 200 }],
  });
  file = join(cli.folder, 'tiny.yaml');
  writeFileSync(file, JSON.stringify({ ...tinyRequest, generation: { mode: 'zero-reference' } }));
});
afterAll(async () => {
  cli.close();
  await server.close();
});

const begin = () => ['build', file, '--state', statePath, '-o', join(cli.folder, 'engine'), ...model()];
const resume = () => ['build', '--resume', statePath, ...model()];
const model = () => ['--llm', server.baseUrl, '--model', server.model, '--baseline', 'none'];

async function killWhen(isReady: () => boolean, args: readonly string[]): Promise<void> {
  const child: ChildProcess = cli.start(args);
  const ended = waitForEnd(child);
  while (!isReady()) {
    if (child.exitCode !== null) throw new Error(`ended before: ${(await ended).stderr}`);
    await sleep(5);
  }
  child.kill('SIGKILL');
  await ended;
}

const finished = (): number =>
  existsSync(calls)
    ? readdirSync(calls)
        .filter((name) => name.endsWith('.json'))
        .filter((name) => JSON.parse(readFileSync(join(calls, name), 'utf8')).finished !== null).length
    : 0;
const stateOf = (): RunState => JSON.parse(readFileSync(statePath, 'utf8')) as RunState;
const accepted = (): number =>
  stateOf().agents?.contracts.filter(({ status }) => status === 'accepted').length ?? 0;

describe('a build that is killed', () => {
  it('in the middle of a stream, between answer and state, and during a gate repeats no call that had its answer', async () => {
    await killWhen(() => server.log.some(({ sent }) => sent.length > 40), begin());
    expect([finished(), accepted()]).toEqual([0, 0]);

    await killWhen(() => finished() === 1, resume());
    expect(accepted()).toBe(0);

    await killWhen(() => existsSync(contractFolders) && readdirSync(contractFolders).length > 0, resume());
    expect(accepted()).toBe(0);

    await killWhen(() => accepted() === 2, resume());
    const delivered = server.log.filter(({ isDelivered }) => isDelivered);
    const questions = delivered.map(({ role, contract, prompt }) => `${role} ${contract} ${prompt}`);
    expect(new Set(questions).size).toBe(questions.length);
    const [first, second] = server.log;
    expect([first!.isDelivered, second!.isDelivered]).toEqual([false, true]);
    expect(second!.prompt).toBe(first!.prompt);
    // The stream that broke off may have been paid for: its reservation stays spent.
    expect(stateOf().agents!.spent.unreportedTokens).toBeGreaterThan(0);
  });
});
