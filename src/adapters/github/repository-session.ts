import type { Logger } from 'pino';
import type { RepositoryRef } from '../../model/github.ts';
import type { EffectLog } from '../store/store.ts';
import type { AppOctokit } from './app-octokit.ts';
import { isTokenRefused, RateLimitedError, statusOf, translateError } from './github-errors.ts';

/** What the operations on one repository share. */
export interface RepositorySession {
  readonly repository: RepositoryRef;
  /** `owner` and `repo` as Octokit's routes want them. */
  readonly place: { readonly owner: string; readonly repo: string };
  readonly effects: EffectLog;
  readonly log: Logger;
  /** By the installation's token. @throws AppError, whose cause is what Octokit threw */
  call<T>(request: (octokit: AppOctokit) => Promise<T>): Promise<T>;
  /** By the app's JWT. */
  callAsApp<T>(request: (octokit: AppOctokit) => Promise<T>): Promise<T>;
  /** `<slug>[bot]`: who our comments are by. */
  botLogin(): Promise<string>;
  /** Waits before a write is looked for and tried again. */
  pause(seconds: number): Promise<void>;
}

/** Asks for what may not be there: 404 gives undefined. */
export async function orUndefined<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/**
 * Sends requests of one installation. A refused token is minted anew once (it may be older than a permission that was
 * granted since). While GitHub asks us to wait, nothing is sent: going on could get the app banned.
 */
export function createInstallationCaller(mint: (installationId: number) => Promise<AppOctokit>) {
  const blockedUntil = new Map<number, number>();

  return async function call<T>(
    repository: RepositoryRef,
    request: (octokit: AppOctokit) => Promise<T>,
  ): Promise<T> {
    const id = repository.installationId;
    const blockedMs = (blockedUntil.get(id) ?? 0) - Date.now();
    if (blockedMs > 0) throw new RateLimitedError(Math.ceil(blockedMs / 1000));
    const octokit = await mint(id);
    try {
      return await request(octokit).catch((error) => {
        if (!isTokenRefused(error)) throw error;
        octokit.forgetToken(id);
        return request(octokit);
      });
    } catch (error) {
      const translated = translateError(error, repository);
      if (translated instanceof RateLimitedError) {
        blockedUntil.set(id, Date.now() + translated.retryAfterSeconds * 1000);
      }
      throw translated;
    }
  };
}
