import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { AppError } from '../model/errors.ts';
import type { MatrixJob } from './oracle-job.ts';

/** Threads that work together on one matrix product after another. */
export interface OraclePool {
  run(job: Omit<MatrixJob, 'id'>): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  left: number;
  resolve(): void;
  reject(error: Error): void;
}

export function startOraclePool(threads: number): OraclePool {
  const waiting = new Map<number, Waiting>();
  const workers = Array.from({ length: threads }, startWorker);
  let isClosing = false;
  for (const worker of workers) {
    worker.unref();
    worker.on('message', (answer: { id: number; message?: string }) => settle(waiting, workers, answer));
    worker.on('error', (error) => failAll(waiting, error));
    worker.on('exit', () => {
      if (!isClosing)
        failAll(waiting, new AppError('INTERNAL', 'a thread of the oracle ended in the middle of its work.'));
    });
  }
  let lastId = 0;
  return {
    run(job) {
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { left: workers.length, resolve, reject });
        for (const worker of workers) {
          worker.ref();
          worker.postMessage({ ...job, id });
        }
      });
    },
    async close() {
      isClosing = true;
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

/** Compiled, the thread's file is JavaScript; from source it is TypeScript, which tsx loads inside the thread. */
function startWorker(): Worker {
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./oracle-worker.js', import.meta.url));
  const api = createRequire(import.meta.url)
    .resolve('tsx/esm/api')
    .replace(/\.cjs$/, '.mjs');
  const [loader, entry] = [pathToFileURL(api).href, new URL('./oracle-worker.ts', import.meta.url).href];
  const text = `import(${JSON.stringify(loader)}).then((tsx) => { tsx.register(); return import(${JSON.stringify(entry)}); });`;
  return new Worker(text, { eval: true });
}

/** A job is done when every thread has found that no block is left. Idle threads do not keep the process alive. */
function settle(
  waiting: Map<number, Waiting>,
  workers: readonly Worker[],
  answer: { id: number; message?: string },
): void {
  const job = waiting.get(answer.id);
  if (job === undefined) return;
  if (answer.message !== undefined) job.reject(new AppError('CHECKPOINT_INVALID', answer.message));
  job.left--;
  if (answer.message === undefined && job.left > 0) return;
  waiting.delete(answer.id);
  job.resolve();
  if (waiting.size === 0) for (const worker of workers) worker.unref();
}

function failAll(waiting: Map<number, Waiting>, error: Error): void {
  for (const job of waiting.values()) job.reject(error);
  waiting.clear();
}
