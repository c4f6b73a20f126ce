// `npm run bench:app`: requests of one successful run, and how long webhooks wait for their acknowledgement.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreTarget } from '../../src/adapters/store/open-store.ts';
import { startApp } from '../../src/app.ts';
import { isOpen } from '../../src/pipeline.ts';
import { type CompiledPrograms, compilePrograms, startAppProcess } from '../support/app-process.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';
import { isPostgresLacking, startPrivatePostgres } from '../support/private-postgres.ts';
import { createWebhookMaker, sendAtRate } from '../support/webhook-load.ts';

const slices = 4;
const sliceSeconds = 5;

function describeMachine(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const dirty = git('status', '--porcelain') === '' ? '' : ', with uncommitted changes';
  const load = loadavg().map((value) => value.toFixed(1));
  const [cpu] = cpus();
  return [
    `Node.js ${process.version}, ${cpus().length} × ${cpu?.model}`,
    `commit ${git('rev-parse', '--short', 'HEAD')}${dirty}`,
    `load average before: ${load.join(' ')}`,
  ].join('\n');
}

/** One run from its issue to its end, with Octokit's spacing of writes. */
async function countRequests(): Promise<void> {
  const world = await startBotWorld();
  const app = await startApp({ ...world.settings, writeSpacing: 'github' }, log);
  world.startRunner('passes');
  const began = performance.now();
  await world.ada('POST', `${world.repository}/issues`, { title: 'tiny', body: await engineRequest() });
  const run = await eventually('the end of the run', async () => {
    const [found] = await app.store.listRuns({ limit: 1 });
    return found !== undefined && !isOpen(found.state) ? found : undefined;
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  const { writes, notifying, reads } = app.client.requestCounts;
  console.log(
    `One run (${run.state.status}), writes spaced as on github.com, scripted harness: ${seconds} s; ` +
      `${writes} writes (at most 20), ${notifying} of them notifying (at most 6), ${reads} reads (at most 60)\n`,
  );
  await app.stop(5);
  await world.stop();
}

/** A payload as GitHub would send it, of an issue without a constraint file: accepted, looked at, ignored. */
async function takeSample(world: BotWorld) {
  let sample: unknown;
  world.github.observe({
    onDelivery: ({ event, payload }) => (sample = event === 'issues' ? payload : sample),
  });
  const body = 'It would be good to have an engine for phones. '.repeat(20);
  await world.ada('POST', `${world.repository}/issues`, { title: 'A question', body });
  await world.github.settled();
  return sample as Parameters<typeof createWebhookMaker>[0];
}

async function isIdle(url: string): Promise<true | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return /metainfer_deliveries\{outcome="queued"\} [1-9]/.test(text) ? undefined : true;
}

/** Both apps in turn, each alone with the two cores while it is asked. */
async function compare(
  programs: CompiledPrograms,
  name: string,
  perSecond: number,
  database: StoreTarget | undefined,
): Promise<void> {
  const world = await startBotWorld(database === undefined ? {} : { database });
  const make = createWebhookMaker(await takeSample(world), world.settings.webhookSecret);
  const ours = startAppProcess(programs, 'app-child', world.settings);
  const bare = startAppProcess(programs, 'bare-app-child', world.settings);
  const [ourUrl, bareUrl] = await Promise.all([ours.ready, bare.ready]);
  const times: { readonly ours: number[]; readonly bare: number[] } = { ours: [], bare: [] };
  for (let slice = 0; slice <= slices; slice += 1) {
    for (const [kind, url] of [['ours', ourUrl] as const, ['bare', bareUrl] as const]) {
      await eventually('an idle app', () => isIdle(ourUrl));
      await sleep(500);
      const measured = await sendAtRate(`${url}/api/github/webhooks`, make, perSecond, sliceSeconds);
      // The first round warms both up.
      if (slice > 0) times[kind].push(...measured);
    }
  }
  print(`our app, ${name}`, perSecond, times.ours);
  print('bare Probot app', perSecond, times.bare);
  await Promise.all([ours.stop(), bare.stop()]);
  await world.stop();
}

function print(what: string, perSecond: number, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)} ms`;
  console.log(`| ${what} | ${perSecond}/s | ${sorted.length} | ${at(0.5)} | ${at(0.99)} | ${at(1)} |`);
}

console.log(`${describeMachine()}\n`);
await countRequests();
const programs = await compilePrograms('app-child', 'bare-app-child');
console.log('| webhook acknowledgement | arrivals | deliveries | p50 | p99 | slowest |');
console.log('|---|---:|---:|---:|---:|---:|');
await compare(programs, 'PGlite', 15, undefined);
if (isPostgresLacking()) console.log('PostgreSQL is not installed here: left out');
else {
  const postgres = startPrivatePostgres();
  const url = postgres.createDatabase('bench');
  await compare(programs, 'PostgreSQL', 50, { kind: 'postgres', url });
  postgres.stop();
}
programs.remove();
console.log(
  `\nload average after: ${loadavg()
    .map((value) => value.toFixed(1))
    .join(' ')}`,
);
