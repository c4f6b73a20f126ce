import { AppError } from '../../model/errors.ts';
import type { CallFault } from './endpoint-faults.ts';
import type { Session } from './session.ts';

const mostTries = 6;
/** Of answers that came and are none. */
const mostUnusable = 2;
/** No try begins later than this after the first. */
const windowMs = 10 * 60_000;
const firstWaitMs = 1000;
const longestWaitMs = 60_000;

export interface RetryPlan {
  /** @throws AppError MODEL_UNAVAILABLE where it has been tried often enough */
  waitAfter(fault: Extract<CallFault, { kind: 'retry' }>, signal: AbortSignal): Promise<void>;
}

/** When a call that failed is made again: as the endpoint asks, else ever later and not all at the same time. */
export function createRetryPlan(session: Session): RetryPlan {
  const startedAt = session.now();
  let tries = 0;
  let unusable = 0;
  return {
    async waitAfter({ message, waitMs, isUnusable }, signal) {
      tries += 1;
      if (isUnusable) unusable += 1;
      const backOff = Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1)) * (0.75 + Math.random() / 2);
      const wait = waitMs ?? backOff;
      const elapsed = session.now() - startedAt;
      if (tries >= mostTries || unusable >= mostUnusable || elapsed + wait > windowMs)
        throw giveUp(session, message, tries, elapsed, waitMs);
      session.onNote(`${message}; tried again in ${(wait / 1000).toFixed(1)} s`);
      await session.wait(wait, signal);
    },
  };
}

function showWait(milliseconds: number): string {
  const minutes = Math.ceil(milliseconds / 60_000);
  return minutes > 2 * 24 * 60 ? 'for days' : `${minutes} minutes`;
}

function giveUp(
  { settings, redact }: Session,
  message: string,
  tries: number,
  elapsedMs: number,
  waitMs: number | undefined,
): AppError {
  const { host } = new URL(settings.base_url);
  const often = tries === 1 ? 'once' : `${tries} times in ${Math.round(elapsedMs / 1000)} s`;
  const asked =
    waitMs !== undefined && waitMs > windowMs
      ? ` It asks to wait ${showWait(waitMs)}; ten minutes are waited at most.`
      : '';
  return new AppError(
    'MODEL_UNAVAILABLE',
    `The language model at ${host} was asked ${often} without an answer: ${redact(message)}.${asked}\nAnswers that arrived are kept: starting again goes on from here and pays for nothing twice.`,
  );
}
