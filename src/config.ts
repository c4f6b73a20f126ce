import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { AppError } from './model/errors.ts';

/** What this machine's operator decided; the only reader of the environment. */
export interface Config {
  /** Folder that holds checkpoints by model id, e.g. `<root>/Qwen/Qwen3-0.6B`. */
  readonly weightsRoot: string | undefined;
  /** Compiled objects, synthetic weights, GGUF files; safe to delete. */
  readonly cacheFolder: string;
  /** `auto`: bubblewrap where it works; `off`: limits only, said so in every report. */
  readonly sandbox: 'auto' | 'off';
  readonly showStacks: boolean;
  /** A person's token for GitHub, for the commands that act as that person. */
  readonly githubToken: string | undefined;
}

/** @throws AppError USAGE naming the variable and what it may be */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const sandbox = environment.METAINFER_SANDBOX ?? 'auto';
  if (sandbox !== 'auto' && sandbox !== 'off') {
    throw new AppError('USAGE', `METAINFER_SANDBOX is "${sandbox}"; it may be "auto" (default) or "off".`);
  }
  const cacheRoot = environment.XDG_CACHE_HOME || join(homedir(), '.cache');
  return Object.freeze({
    weightsRoot: environment.METAINFER_WEIGHTS ? resolve(environment.METAINFER_WEIGHTS) : undefined,
    cacheFolder: resolve(environment.METAINFER_CACHE || join(cacheRoot, 'metainfer')),
    sandbox,
    showStacks: environment.METAINFER_DEBUG === '1',
    githubToken: environment.METAINFER_GITHUB_TOKEN || environment.GITHUB_TOKEN || undefined,
  });
}
