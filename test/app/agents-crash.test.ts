import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/adapters/store/open-store.ts';
import type { AppSettings } from '../../src/app.ts';
import { LlmSettings } from '../../src/model/llm-settings.ts';
import { tokensOf } from '../../src/model/spending.ts';
import { step } from '../../src/pipeline.ts';
import {
  type AppProcess,
  type CompiledPrograms,
  compilePrograms,
  startAppProcess,
} from '../support/app-process.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';
import { repliesFromKnowledge } from '../support/model-server/knowledge-replies.ts';
import { type ModelServer, startModelServer } from '../support/model-server/model-server.ts';
import { knowledgeWithout, patienceSeconds, selection } from './agent-world.ts';

/** kill -9 at each of these moments, in the order in which a run comes to them. */
const deaths = [
  'in the middle of a streamed answer',
  'after an answer, before what came of it is saved',
  'after the files are written, before they are committed',
] as const;

describe('an app that is killed while a model writes', () => {
  let programs: CompiledPrograms;
  let world: BotWorld;
  let server: ModelServer;
  let app: AppProcess;
  let starts = 0;
  let isOver = false;
  let hasPassed = false;

  beforeAll(async () => {
    programs = await compilePrograms('app-child');
    world = await startBotWorld();
    server = await startModelServer({
      replies: repliesFromKnowledge(selection),
      // Long enough to be killed in.
      script: ({ number }) => (number === 1 ? { name: 'slow', pauseMs: 200 } : undefined),
    });
  }, 300_000);

  afterAll(async () => {
    isOver = true;
    await app.stop();
    await world.stop();
    await server.close();
    programs.remove();
  });

  function settings(): AppSettings {
    const llm = LlmSettings.parse({ base_url: server.baseUrl, model: server.model });
    return {
      ...world.settings,
      knowledgeFolder: knowledgeWithout(['norm-rms', 'text-stop'], world.folder),
      llm: { settings: llm, apiKey: undefined },
    };
  }

  /** Starts the app again whenever it is gone. */
  async function keepUp(given: AppSettings): Promise<void> {
    let hasDiedBeforeCommit = false;
    while (!isOver) {
      starts += 1;
      app = startAppProcess(programs, 'app-child', given, (line) => {
        if (line.msg === 'step done' && line.status === 'passed') hasPassed = true;
        if (line.msg !== 'step begins' || line.step !== 'publish' || hasDiedBeforeCommit) return;
        hasDiedBeforeCommit = true;
        app.kill();
      });
      await app.gone;
    }
  }

  it(
    `asks nothing twice that was answered: ${deaths.join('; ')}`,
    async () => {
      void keepUp(settings());
      await app.ready;
      world.startRunner('passes');
      await world.ada('POST', `${world.repository}/issues`, { title: 'tiny', body: await engineRequest() });
      await server.until((entry) => entry.number === 1 && entry.sent.length > 100);
      app.kill();
      // The reviewer is asked in the same step as the implementer, whose answer it is about.
      await server.until((entry) => entry.role === 'reviewer');
      app.kill();
      await eventually(
        'the end of a run with three deaths',
        async () => hasPassed || undefined,
        patienceSeconds,
      );
      expect(starts).toBe(deaths.length + 1);

      const delivered = server.log.filter(({ isDelivered }) => isDelivered);
      const questions = delivered.map(({ role, contract }) => `${role} ${contract}`);
      expect(questions.filter((each) => each.startsWith('implementer'))).toEqual([
        'implementer text.stop',
        'implementer norm.rms',
      ]);
      expect(new Set(questions).size).toBe(4);
      const cutOff = server.log.filter(({ isDelivered }) => !isDelivered);
      expect(cutOff.map(({ number }) => number)[0]).toBe(1);
    },
    (patienceSeconds + 200) * 1000,
  );

  it('counts what was cut off as spent, so that no limit is passed by dying', async () => {
    isOver = true;
    await app.stop();
    const opened = await openStore(world.settings.database, { log, instance: 'reader', step });
    const [run] = await opened.store.listRuns({ limit: 1 });
    const spent = await opened.store.completionLedger(run!, { tokensPerDay: null }).spent();
    const calls = await opened.store.completionLedger(run!, { tokensPerDay: null }).list();
    await opened.close();
    expect(calls.filter(({ finished }) => finished === null).length).toBeGreaterThanOrEqual(1);
    expect(spent.unreportedTokens).toBeGreaterThan(0);
    expect(tokensOf(spent)).toBeGreaterThanOrEqual(server.count().tokens);
    expect([run!.state.status, run!.state.attempt]).toEqual(['passed', 1]);
  });
});
