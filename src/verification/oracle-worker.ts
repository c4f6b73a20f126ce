import { parentPort } from 'node:worker_threads';
import { type MatrixJob, workOnJob } from './oracle-job.ts';

/** Body of one thread of the oracle's pool: answers each job with its id, or with what went wrong. */
parentPort?.on('message', (job: MatrixJob) => {
  try {
    workOnJob(job);
    parentPort?.postMessage({ id: job.id });
  } catch (error) {
    parentPort?.postMessage({ id: job.id, message: error instanceof Error ? error.message : String(error) });
  }
});
