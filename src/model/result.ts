import { z } from 'zod';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * `result.json` of the runner's artifact, beside `report.json` and `log.txt`: what became of one request. Everything in
 * it is a claim; the app compares it with its own store before it believes the report.
 */
export const RunnerResult = z.strictObject({
  schema: z.literal('metainfer/result/v1'),
  requestId: z.string().regex(/^[0-9a-z-]{8,80}$/),
  /** The commit that was checked out. */
  engineCommit: z.string().regex(/^[0-9a-f]{40}$/),
  constraintsSha256: sha256,
  /** Of the engine folder as it was judged; null where it could not be read. */
  treeSha256: sha256.nullable(),
  /** judged: report.json holds the verdict · refused: nothing was judged, `failure` says why. */
  outcome: z.enum(['judged', 'refused']),
  failure: z.strictObject({ code: z.string().max(60), message: z.string().max(20_000) }).nullable(),
  harness: z.strictObject({
    version: z.string().max(60),
    commit: z
      .string()
      .regex(/^[0-9a-f]{40}$/)
      .nullable(),
  }),
  runner: z.strictObject({ name: z.string().max(200), labels: z.array(z.string().max(100)).max(50) }),
});
export type RunnerResult = z.infer<typeof RunnerResult>;
