import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import { isOpen } from '../../src/pipeline.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';
import { countEffects, onlyOnce } from '../support/count-effects.ts';
import { postWebhook, startWebhookRelay, type Webhook } from '../support/webhook-relay.ts';

describe('webhooks that come several times', () => {
  let world: BotWorld;
  let app: RunningApp;
  let relay: { readonly url: string; stop(): void };
  /** How webhooks get from GitHub to the app. */
  let pass: (webhook: Webhook) => Promise<number> = (webhook) => send(webhook);

  beforeAll(async () => {
    world = await startBotWorld();
    app = await startApp(world.settings, log);
    relay = await startWebhookRelay((webhook) => pass(webhook));
    appOnGitHub().webhookUrl = relay.url;
    world.startRunner('passes');
  });

  afterAll(async () => {
    relay.stop();
    await app.stop(5);
    await world.stop();
  });

  const appOnGitHub = () => world.github.world.apps.get(world.settings.appId)!;
  const send = (webhook: Webhook) => postWebhook(`${app.url}/api/github/webhooks`, webhook);
  const anew = (webhook: Webhook): Webhook => ({
    ...webhook,
    headers: { ...webhook.headers, 'x-github-delivery': randomUUID() },
  });

  /** As a webhook of the repository sends the same event: another GUID, no installation. */
  function asRepositoryWebhook({ headers, body }: Webhook): Webhook {
    const { installation: _, ...payload } = JSON.parse(body.toString());
    const text = Buffer.from(JSON.stringify(payload));
    const signature = createHmac('sha256', world.settings.webhookSecret).update(text).digest('hex');
    return anew({ headers: { ...headers, 'x-hub-signature-256': `sha256=${signature}` }, body: text });
  }

  const loggedWebhooks = (): readonly Webhook[] =>
    appOnGitHub().deliveries.map(({ requestHeaders, payload }) => ({
      headers: requestHeaders,
      body: Buffer.from(payload),
    }));

  async function request(name: string): Promise<number> {
    const body = await engineRequest([[/^name: tiny-qwen3/m, `name: ${name}`]]);
    const { body: issue } = await world.ada('POST', `${world.repository}/issues`, { title: name, body });
    return issue.number;
  }

  async function endOf(issue: number) {
    return eventually(`the end of the run of #${issue}`, async () => {
      const [run] = await app.store.listRuns({ sourceKind: 'issue', sourceNumber: issue, limit: 1 });
      return run !== undefined && !isOpen(run.state) ? run : undefined;
    });
  }

  async function settled(): Promise<void> {
    await world.github.settled();
    await eventually('empty queues', async () => {
      const { deliveries, runs } = await app.store.counts();
      return (deliveries.queued ?? 0) + (runs.running ?? 0) === 0 ? true : undefined;
    });
  }

  it('each four times at once, by their GUID or with one of their own: everything is done once', async () => {
    pass = async (webhook) => {
      const copies = [asRepositoryWebhook(webhook), webhook, anew(webhook), webhook];
      return Math.max(...(await Promise.all(copies.map(send))));
    };
    const issue = await request('at-once');
    const run = await endOf(issue);
    expect(run.state.status).toBe('passed');
    await settled();
    expect(await countEffects(world, issue, run.state.github!.pullNumber)).toEqual(onlyOnce);
    expect(await app.store.listRuns({})).toHaveLength(1);
  });

  it('all again once it is over, from the log of GitHub and with new GUIDs: nothing changes', async () => {
    pass = send;
    const before = await countEffects(world, 1, 2);
    const { writes } = app.client.requestCounts;
    const webhooks = loggedWebhooks();
    expect(webhooks.length).toBeGreaterThan(10);
    for (const delivery of [...appOnGitHub().deliveries])
      world.github.world.redeliver(appOnGitHub(), delivery);
    await Promise.all(webhooks.map((webhook) => send(anew(webhook))));
    await Promise.all(webhooks.map((webhook) => send(asRepositoryWebhook(webhook))));
    await settled();
    expect(await countEffects(world, 1, 2)).toEqual(before);
    expect(app.client.requestCounts.writes).toBe(writes);
    expect(await app.store.listRuns({})).toHaveLength(1);
  });

  it("a repository's own webhook that is faster than the app's does not take its place", async () => {
    const early: number[] = [];
    pass = async (webhook) => {
      early.push(await send(asRepositoryWebhook(webhook)));
      return send(webhook);
    };
    const issue = await request('own-webhook');
    const run = await endOf(issue);
    expect(run.state.status).toBe('passed');
    expect(Math.max(...early)).toBeLessThan(300);
    await settled();
    const effects = await countEffects(world, issue, run.state.github!.pullNumber);
    expect(effects).toEqual({ ...onlyOnce, pulls: ['ready', 'ready'], dispatches: 2 });
  });
});
