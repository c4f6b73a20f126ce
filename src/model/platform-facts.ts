import { z } from 'zod';

/** Rates of a device that a verified run measured: an entry of `measured` in knowledge/platforms/<platform>.yaml. */
export const MeasuredDevice = z.strictObject({
  /** As the system names it. */
  device: z.string().min(1).max(200),
  threads: z.int().min(1),
  /** Of memory, at the largest working set that was tried. */
  read_gb_per_s: z.number().positive(),
  gflops: z.number().positive(),
  report: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  date: z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
});
export type MeasuredDevice = z.infer<typeof MeasuredDevice>;
