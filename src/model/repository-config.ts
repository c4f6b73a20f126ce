import { z } from 'zod';
import { permissions } from './github.ts';

/** Least permission that gives a capability. `anyone` is every signed-in account that can see the repository. */
const Who = z.enum(['anyone', ...permissions.filter((permission) => permission !== 'none')]);

/** `.github/metainfer.yml` of a repository, after defaults. Read from the default branch only. */
export const RepositoryConfig = z.strictObject({
  /** Who may do what. `generate` writes branches and pull requests, `runner` spends minutes of the repository's runners. */
  allow: z
    .strictObject({
      plan: Who.default('anyone'),
      generate: Who.default('write'),
      runner: Who.default('write'),
    })
    .prefault({}),
  knowledge: z
    .strictObject({
      /** `owner/name` of the home repository that holds knowledge and the harness; absent: the app's own. */
      repository: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/)
        .optional(),
      /** Lessons from a private repository go to a public home only where this is true. */
      share_lessons: z.boolean().default(false),
    })
    .prefault({}),
  /** Engines that may be generated and verified for one person a day. */
  limits: z.strictObject({ runs_per_actor_per_day: z.int().min(1).max(1000).default(20) }).prefault({}),
  /** What agents may spend; it lowers what the operator of the app allows, and never raises it. */
  generation: z
    .strictObject({
      /** A plan that expects more tokens waits for somebody who may generate. */
      auto_approve_tokens: z.int().min(0).max(1_000_000_000).default(300_000),
      tokens_per_run: z.int().min(0).max(1_000_000_000).optional(),
      tokens_per_day: z.int().min(0).max(1_000_000_000).optional(),
    })
    .prefault({}),
  /** Extra labels that a job needs, after those of runner-config/labels.yaml. */
  runner: z
    .strictObject({
      extra_labels: z
        .array(z.string().regex(/^[A-Za-z0-9._-]{1,64}$/))
        .max(8)
        .default([]),
    })
    .prefault({}),
});
export type RepositoryConfig = z.infer<typeof RepositoryConfig>;
