import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Environment, readServeSettings, type ServeConfig } from './config/serve-config.ts';
import { AppError } from './model/errors.ts';
import { showSetting } from './model/show-setting.ts';

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
  readonly llm: {
    /** Base URL of an endpoint, or path of a YAML file with settings. */
    readonly settings: string | undefined;
    readonly model: string | undefined;
    /** Value of the environment variable that the settings name for the key. */
    readonly keyOf: (name: string) => string | undefined;
  };
}

/** @throws AppError USAGE naming the variable and what it may be */
export function readConfig(environment: Environment = process.env): Config {
  const sandbox = environment.METAINFER_SANDBOX ?? 'auto';
  if (sandbox !== 'auto' && sandbox !== 'off') {
    throw new AppError(
      'USAGE',
      `METAINFER_SANDBOX is ${showSetting(sandbox)}; it may be "auto" (default) or "off".`,
    );
  }
  const cacheRoot = environment.XDG_CACHE_HOME || join(homedir(), '.cache');
  return Object.freeze({
    weightsRoot: environment.METAINFER_WEIGHTS ? resolve(environment.METAINFER_WEIGHTS) : undefined,
    cacheFolder: resolve(environment.METAINFER_CACHE || join(cacheRoot, 'metainfer')),
    sandbox,
    showStacks: environment.METAINFER_DEBUG === '1',
    githubToken: environment.METAINFER_GITHUB_TOKEN || environment.GITHUB_TOKEN || undefined,
    llm: Object.freeze({
      settings: environment.METAINFER_LLM?.trim() || undefined,
      model: environment.METAINFER_LLM_MODEL?.trim() || undefined,
      keyOf: (name: string) => environment[name]?.trim() || undefined,
    }),
  });
}

/**
 * Adds the settings of a .env file in the working directory; what the environment says already stays.
 * @throws AppError SETTINGS_INVALID where there is one that cannot be read
 */
export function loadEnvironmentFile(): void {
  try {
    process.loadEnvFile();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    // Node.js says of a folder that its contents are no text.
    const reason = code === 'ERR_INVALID_ARG_TYPE' ? 'it is a folder' : code;
    throw new AppError(
      'SETTINGS_INVALID',
      `${resolve('.env')} cannot be read (${reason}): settings are read from that file where there is one. Move it away, or make it a file that this user can read.`,
      { cause: error },
    );
  }
}

/**
 * What the operator of an app instance decided.
 * @throws AppError SETTINGS_INVALID with every problem at once, each naming its variable and the fix
 */
export function readServeConfig(environment: Environment = process.env): ServeConfig {
  return readServeSettings(environment, readConfig(environment).cacheFolder);
}
