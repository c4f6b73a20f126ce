import { openStore, type StoreTarget } from '../../src/adapters/store/open-store.ts';
import { step } from '../../src/pipeline.ts';
import { type AppProcess, type CompiledPrograms, startAppProcess } from './app-process.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from './bot-world.ts';
import { type CrashPoint, type CrashScript, createCrashScript } from './crash-script.ts';
import { postWebhook, startWebhookRelay } from './webhook-relay.ts';

export interface Survival {
  readonly world: BotWorld;
  /** How often the app was started. */
  readonly starts: number;
  /** GUIDs of the deliveries that the app acknowledged. */
  readonly acknowledged: readonly string[];
}

/** One run from its issue (#1) to its end, through the death of the app at each point. Stop the world afterwards. */
export async function surviveCrashes(
  points: readonly CrashPoint[],
  programs: CompiledPrograms,
  database: StoreTarget | undefined,
): Promise<Survival> {
  let app: AppProcess | undefined;
  const script = createCrashScript(points, () => app?.kill());
  const world = await startBotWorld({
    ...(database === undefined ? {} : { database }),
    github: { intercept: script.intercept },
  });
  const relay = await relayTo(world, script);
  const life = { starts: 0, hasPassed: false, isOver: false };
  const keepUp = async (): Promise<void> => {
    while (!life.isOver && life.starts <= points.length) {
      life.starts += 1;
      app = startAppProcess(programs, 'app-child', world.settings, (line) => {
        if (line.msg === 'step begins') script.stepBegan(String(line.step));
        if (line.msg === 'step done' && line.status === 'passed') life.hasPassed = true;
      });
      await app.gone;
    }
  };
  const up = keepUp();
  try {
    await app!.ready;
    world.startRunner('passes');
    const body = await engineRequest();
    await world.ada('POST', `${world.repository}/issues`, { title: 'tiny', body });
    const isOver = async () => (life.hasPassed && script.left() === 0 ? true : undefined);
    await eventually(`the end of a run with ${points.length} deaths`, isOver, 500);
    await eventually('the last deliveries', createCalm(`http://127.0.0.1:${world.settings.port}`));
  } catch (error) {
    await world.stop();
    throw new Error(`${script.left()} of ${points.length} deaths were still to come`, { cause: error });
  } finally {
    life.isOver = true;
    await app!.stop();
    await up;
    relay.stop();
  }
  return { world, starts: life.starts, acknowledged: relay.acknowledged };
}

/** What the end of a run set off is still arriving: calm is a second in which no delivery waits to be handled. */
function createCalm(base: string): () => Promise<true | undefined> {
  let calmSince: number | undefined;
  return async () => {
    const text = await (await fetch(`${base}/metrics`)).text();
    const queued = Number(/^metainfer_deliveries\{outcome="queued"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    calmSince = queued > 0 ? undefined : (calmSince ?? Date.now());
    return calmSince !== undefined && Date.now() - calmSince > 1000 ? true : undefined;
  };
}

async function relayTo(world: BotWorld, script: CrashScript) {
  const acknowledged: string[] = [];
  const { port, appId } = world.settings;
  const relay = await startWebhookRelay(async (webhook) => {
    const status = await postWebhook(`http://127.0.0.1:${port}/api/github/webhooks`, webhook);
    if (status >= 300) return status;
    acknowledged.push(String(webhook.headers['x-github-delivery']));
    script.acknowledged(String(webhook.headers['x-github-event']));
    return status;
  });
  world.github.world.apps.get(appId)!.webhookUrl = relay.url;
  return { acknowledged, stop: relay.stop };
}

/** What is in the database once no app runs any more. */
export async function readDatabase(target: StoreTarget, deliveries: readonly string[]) {
  const opened = await openStore(target, { log, instance: 'reader', step });
  const runs = await opened.store.listRuns({ limit: 10 });
  const found = await Promise.all(deliveries.map((guid) => opened.store.findDelivery(guid)));
  await opened.close();
  return {
    runs: runs.map(({ state }) => ({ status: state.status, attempt: state.attempt })),
    outcomes: new Set(found.map((delivery) => delivery?.outcome ?? 'lost')),
  };
}
