import { z } from 'zod';

/** A job as the stand-in hands it out. */
const ClaimedJob = z.object({
  job_id: z.number(),
  workflow_path: z.string(),
  inputs: z.record(z.string(), z.string()),
  clone_url: z.string(),
  clone_token: z.string(),
});
export type ClaimedJob = z.infer<typeof ClaimedJob>;

export type JobConclusion = 'success' | 'failure' | 'cancelled';

/**
 * The routes of the local GitHub for runners. Every call throws where the stand-in is gone or refuses. A job that it gave
 * up, because this runner was not heard of for too long, is to stop and takes no completion.
 */
export interface RunnerClient {
  register(name: string, labels: readonly string[]): Promise<number>;
  claim(runnerId: number): Promise<ClaimedJob | undefined>;
  /** Sends what was printed since; true: the job is to stop. */
  progress(jobId: number, log: string): Promise<boolean>;
  uploadArtifact(jobId: number, name: string, zip: Buffer): Promise<void>;
  complete(jobId: number, conclusion: JobConclusion): Promise<void>;
}

export function createRunnerClient(url: string, token: string): RunnerClient {
  const post = async (path: string, body: object, ifGone?: object): Promise<unknown> => {
    const response = await fetch(`${url}/_runner/${path}`, {
      method: 'POST',
      // A kept connection may be closed by the other side just when a busy machine uses it again.
      headers: { 'content-type': 'application/json', 'x-runner-token': token, connection: 'close' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    if (response.status === 404 && ifGone !== undefined) return ifGone;
    if (response.ok) return text === '' ? undefined : JSON.parse(text);
    throw new Error(`The local GitHub answered ${response.status} to ${path}: ${text.slice(0, 300)}`);
  };
  return {
    async register(name, labels) {
      return z.object({ runner_id: z.number() }).parse(await post('runners', { name, labels })).runner_id;
    },
    async claim(runnerId) {
      const body = await post('claims', { runner_id: runnerId });
      return body === undefined ? undefined : ClaimedJob.parse(body);
    },
    async progress(jobId, log) {
      const body = await post(`jobs/${jobId}/progress`, { log }, { is_cancel_requested: true });
      return z.object({ is_cancel_requested: z.boolean() }).parse(body).is_cancel_requested;
    },
    async uploadArtifact(jobId, name, zip) {
      await post(`jobs/${jobId}/artifacts`, { name, zip: zip.toString('base64') });
    },
    async complete(jobId, conclusion) {
      await post(`jobs/${jobId}/completion`, { conclusion }, {});
    },
  };
}
