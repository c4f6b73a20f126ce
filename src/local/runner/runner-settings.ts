import { z } from 'zod';

/** What a local runner is told at its start, as one line of JSON on its stdin. */
export const RunnerSettings = z.strictObject({
  /** http://127.0.0.1:port of the local GitHub. */
  url: z.string(),
  /** `runnerToken(world)` of the stand-in. */
  token: z.string(),
  name: z.string(),
  labels: z.array(z.string()),
  /** Checkouts and outputs of jobs; emptied after each. */
  workFolder: z.string(),
  /** The operator's checkpoints by model id; null: none. */
  weightsFolder: z.string().nullable(),
  /** The harness's cache. */
  cacheFolder: z.string(),
  sandbox: z.enum(['auto', 'off']),
  /** Program and first arguments that `judge …` is appended to. */
  harness: z.array(z.string()).min(1),
});
export type RunnerSettings = z.infer<typeof RunnerSettings>;
