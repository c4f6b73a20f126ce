import { join } from 'node:path';
import { AppError } from '../../model/errors.ts';
import { readIfThere, writeWhole } from './ablation-folder.ts';

/** What a killed process loses of the time at most. */
const saveEveryMs = 5000;

/** Wall time of a run over all sittings, kept beside it. */
export interface WorkClock {
  readonly sittings: number;
  /** Seconds until now. */
  readonly read: () => number;
  readonly stop: () => Promise<void>;
}

export async function startClock(folder: string): Promise<WorkClock> {
  const path = join(folder, 'clock.json');
  const before = parseClock(path, await readIfThere(path));
  const began = performance.now();
  const sittings = before.sittings + 1;
  const read = (): number => before.seconds + (performance.now() - began) / 1000;
  const save = (): Promise<void> => writeWhole(path, `${JSON.stringify({ sittings, seconds: read() })}\n`);
  await save();
  let saving = Promise.resolve();
  const timer = setInterval(() => {
    // A moment that could not be written down is no reason to stop a run of hours.
    saving = saving.then(save).catch(() => undefined);
  }, saveEveryMs);
  timer.unref();
  return {
    sittings,
    read,
    async stop() {
      clearInterval(timer);
      await saving;
      await save();
    },
  };
}

function parseClock(path: string, text: string | undefined): { sittings: number; seconds: number } {
  if (text === undefined) return { sittings: 0, seconds: 0 };
  try {
    const { sittings, seconds } = JSON.parse(text) as { sittings: number; seconds: number };
    if (Number.isInteger(sittings) && sittings > 0 && seconds >= 0) return { sittings, seconds };
  } catch {
    // Told below.
  }
  throw new AppError(
    'RUN_STATE_INVALID',
    `${path} is damaged. Delete its folder and start the same command again.`,
  );
}
