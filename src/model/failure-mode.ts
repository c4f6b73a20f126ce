import { z } from 'zod';
import { gateNames } from './report.ts';

/** What knowledge may name as a gate: those of a verification, and `sabotage` of the knowledge checks. */
export const namedGates: readonly string[] = [...gateNames, 'sabotage'];

/**
 * Front matter of knowledge/failure-modes/<id>-<slug>.md, e.g. `fm-22-rmsnorm-cast-order.md`.
 * Contracts refer to it by the id (`fm-22`) or by the file name without `.md`.
 */
export const FailureModeFrontMatter = z.strictObject({
  id: z.string().regex(/^fm-\d{2,3}$/),
  title: z.string().min(5).max(200),
  /** What one sees from outside. */
  symptom: z.string().min(5),
  cause: z.string().min(5),
  /** Which gate turns red: a gate name of DESIGN §6 (`logits`), or one unit case as `<contract id>#<case>`. */
  gates: z.array(z.string().min(1)).min(1),
  /** Ids of the contracts it can appear in. */
  contracts: z.array(z.string().min(1)).min(1),
  references: z.array(z.string().min(1)).min(1),
});
export type FailureModeFrontMatter = z.infer<typeof FailureModeFrontMatter>;

export interface FailureMode {
  /** File name without `.md`. */
  readonly slug: string;
  readonly frontMatter: FailureModeFrontMatter;
  readonly body: string;
}
