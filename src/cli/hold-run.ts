import { lockName } from '../adapters/store/folder-lock.ts';
import { AppError } from '../model/errors.ts';

/**
 * Takes a run's state and its engine folder for this process: two that work on one would pay twice, spend beyond the
 * limit, and judge each other's files. @returns what gives them back @throws AppError USAGE
 */
export async function holdRun(statePath: string, engineFolder: string): Promise<() => Promise<void>> {
  const held: (() => Promise<void>)[] = [];
  const release = async (): Promise<void> => {
    for (const giveBack of held) await giveBack();
  };
  for (const [what, path] of [
    ['run', statePath],
    ['engine folder', engineFolder],
  ] as const) {
    try {
      held.push(await lockName(`${what} ${path}`));
    } catch (error) {
      await release();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      const other = what === 'run' ? '' : ' Name another folder with -o, or wait for it to end.';
      throw new AppError('USAGE', `Another process works on the ${what} ${path}.${other}`, { cause: error });
    }
  }
  return release;
}
