import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningApp, startApp } from '../../src/app.ts';
import { demoModel } from '../../src/local/demo/demo-request.ts';
import { runnerToken } from '../../src/local/github/runner-state.ts';
import { startLocalRunner } from '../../src/local/runner/start-local-runner.ts';
import type { RunRecord } from '../../src/model/run-record.ts';
import { isOpen } from '../../src/pipeline.ts';
import { knowledgeRoot } from '../../src/preparation/knowledge-base.ts';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from './bot-world.ts';

/** A mistake in one realization; `find` stands there exactly once. */
export interface Mistake {
  /** Below knowledge/contracts. */
  readonly realization: string;
  readonly edits: readonly { readonly find: string; readonly replace: string }[];
}

export interface SabotagedWorld {
  readonly world: BotWorld;
  /** Opens an issue, and gives its run once the real harness has judged the engine. */
  judge(replace: readonly (readonly [RegExp, string])[]): Promise<RunRecord>;
  stop(): Promise<void>;
}

/** The app and a runner with the real harness, both with knowledge that is wrong in one place. */
export async function startSabotagedWorld(mistake: Mistake): Promise<SabotagedWorld> {
  const world = await startBotWorld();
  const knowledgeFolder = copyKnowledge(world.folder, mistake);
  const app = await startApp({ ...world.settings, knowledgeFolder }, log);
  const runner = startLocalRunner({
    ...{ url: world.github.url, token: runnerToken(world.github.world), name: 'real-runner' },
    labels: ['self-hosted', 'linux', 'x64', 'metainfer-cpu-avx2'],
    workFolder: join(world.folder, 'runner'),
    weightsFolder: copyWeights(world.folder),
    cacheFolder: world.settings.cacheFolder,
    harness: [
      ...[process.execPath, '--import', import.meta.resolve('tsx')],
      ...[fileURLToPath(new URL('./harness-with-knowledge.ts', import.meta.url)), knowledgeFolder],
    ],
  });
  return {
    world,
    async judge(replace) {
      const body = await engineRequest(replace);
      await world.ada('POST', `${world.repository}/issues`, { title: 'sabotaged', body });
      return endOf(app);
    },
    async stop() {
      await runner.stop();
      await app.stop(5);
      await world.stop();
    },
  };
}

/** Two cores that are busy with something else compile an engine, twice, and ask it a thousand questions. */
export const verdictSeconds = 900;

function endOf(app: RunningApp): Promise<RunRecord> {
  return eventually(
    'the verdict',
    async () => {
      const [run] = await app.store.listRuns({ limit: 1 });
      return run !== undefined && !isOpen(run.state) ? run : undefined;
    },
    verdictSeconds,
  );
}

function copyKnowledge(folder: string, { realization, edits }: Mistake): string {
  const copy = join(folder, 'knowledge');
  cpSync(knowledgeRoot(), copy, { recursive: true });
  const path = join(copy, 'contracts', realization);
  const text = edits.reduce(
    (before, { find, replace }) => {
      const parts = before.split(find);
      if (parts.length !== 2) throw new Error(`${realization} holds "${find}" ${parts.length - 1} times.`);
      return parts.join(replace);
    },
    readFileSync(path, 'utf8'),
  );
  writeFileSync(path, text);
  return copy;
}

function copyWeights(folder: string): string {
  const weights = join(folder, 'weights');
  mkdirSync(join(weights, demoModel.id), { recursive: true });
  cpSync(join(packageRoot(), demoModel.folder), join(weights, demoModel.id), { recursive: true });
  return weights;
}
