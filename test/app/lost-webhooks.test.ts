import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import { isOpen } from '../../src/pipeline.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';
import { countEffects, onlyOnce } from '../support/count-effects.ts';

/** A delivery is looked for a minute after it was sent: what gets lost here got lost two minutes ago. */
const agoMilliseconds = 120_000;

describe('webhooks that get lost', () => {
  const losing = new Set<string>();
  let clockIsBehind = false;
  let world: BotWorld;
  let app: RunningApp | undefined;

  beforeAll(async () => {
    world = await startBotWorld({
      github: {
        now: () => new Date(Date.now() - (clockIsBehind ? agoMilliseconds : 0)),
        isLost: ({ event, action }) => losing.has(`${event}.${action}`),
      },
    });
  });

  afterAll(async () => {
    await app?.stop(5);
    await world.stop();
  });

  async function restart(): Promise<RunningApp> {
    await app?.stop(5);
    app = await startApp(world.settings, log);
    return app;
  }

  const theRun = async () => (await app!.store.listRuns({ sourceKind: 'issue', sourceNumber: 1 }))[0];
  const lostDeliveries = () =>
    world.github.world.apps
      .get(world.settings.appId)!
      .deliveries.filter(({ statusCode }) => statusCode === 502);

  it('are asked for again when the app comes back', async () => {
    losing.add('issues.opened');
    clockIsBehind = true;
    const body = await engineRequest();
    await world.ada('POST', `${world.repository}/issues`, { title: 'tiny', body });
    await world.github.settled();
    clockIsBehind = false;
    losing.clear();
    expect(lostDeliveries().map(({ event }) => event)).toContain('issues');
    await restart();
    await eventually('a run that waits for a runner', async () =>
      (await theRun())?.state.waitingFor === 'workflow' ? true : undefined,
    );
  });

  it('are not needed to see that a workflow run ended', async () => {
    losing.add('workflow_run.completed').add('workflow_job.completed');
    world.startRunner('passes');
    await eventually('the end of the workflow run', async () =>
      lostDeliveries().some(({ event }) => event === 'workflow_run') ? true : undefined,
    );
    losing.clear();
    expect((await theRun())!.state.waitingFor).toBe('workflow');
    await restart();
    const run = await eventually('the end of the run', async () => {
      const found = await theRun();
      return found !== undefined && !isOpen(found.state) ? found : undefined;
    });
    expect(run.state.status).toBe('passed');
    expect(await countEffects(world, 1, 2)).toEqual(onlyOnce);
  });
});
