import { z } from 'zod';

const Timed = z.object({ repository: z.object({ updated_at: z.iso.datetime({ offset: true }) }) });

/** GitHub's time of the repository as the payload shows it; null where it has none. Tells an old word from a new one. */
export function repositoryUpdatedAt(payload: unknown): Date | null {
  const timed = Timed.safeParse(payload);
  return timed.success ? new Date(timed.data.repository.updated_at) : null;
}
