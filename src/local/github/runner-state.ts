import { randomBytes } from 'node:crypto';
import type { Runner } from './actions-data.ts';
import type { World } from './world.ts';

interface RunnerState {
  /** What a runner registers with. */
  readonly token: string;
  readonly runners: Map<number, Runner>;
  readonly downloads: Map<string, { readonly zip: Buffer; readonly expiresAt: Date }>;
  /** When the runner of each running job was last heard of, by job id. */
  readonly heard: Map<number, Date>;
}

const states = new WeakMap<World, RunnerState>();

/** What the stand-in keeps for its runners, outside every repository. */
export function runnerState(world: World): RunnerState {
  const known = states.get(world);
  if (known !== undefined) return known;
  const state: RunnerState = {
    token: randomBytes(24).toString('hex'),
    runners: new Map(),
    downloads: new Map(),
    heard: new Map(),
  };
  states.set(world, state);
  return state;
}

/** The token for `startLocalRunner`. */
export function runnerToken(world: World): string {
  return runnerState(world).token;
}

const downloadMilliseconds = 60_000;

/** Makes bytes available under a key for a minute, as GitHub's redirect to its blob store is. */
export function offerDownload(world: World, key: string, zip: Buffer): void {
  const expiresAt = new Date(world.now().getTime() + downloadMilliseconds);
  runnerState(world).downloads.set(key, { zip, expiresAt });
}
