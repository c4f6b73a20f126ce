import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import { AppError } from '../../model/errors.ts';

/**
 * Takes a name for this process: an abstract unix socket, which the kernel gives back however the process ends.
 * It counts within one machine (one network namespace: containers that share a folder don't see each other's).
 * @returns what gives it back
 * @throws Error with the code EADDRINUSE when another process has it
 */
export async function lockName(key: string): Promise<() => Promise<void>> {
  const name = createHash('sha256').update(key).digest('hex').slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(`\0metainfer-${name}`, resolve);
  });
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}

/**
 * Takes a folder for this process.
 * @returns what gives the folder back
 * @throws AppError DATABASE_UNAVAILABLE when another process has it
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = realpathSync(folder);
  try {
    return await lockName(path);
  } catch (error) {
    throw refusal(path, error as NodeJS.ErrnoException);
  }
}

function refusal(path: string, error: NodeJS.ErrnoException): AppError {
  if (error.code === 'EADDRINUSE') {
    return new AppError(
      'DATABASE_UNAVAILABLE',
      `Another process works with the data folder ${path}.\n` +
        'Stop it first, name another folder, or use PostgreSQL (DATABASE_URL) to run several instances.',
      { cause: error },
    );
  }
  return new AppError(
    'DATABASE_UNAVAILABLE',
    `The data folder ${path} cannot be locked on this system (${error.code ?? error.message}).\n` +
      'The embedded database needs Linux; use PostgreSQL (DATABASE_URL) elsewhere.',
    { cause: error },
  );
}
