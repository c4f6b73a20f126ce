import type { Database } from './database.ts';
import type { EffectLog, EffectRecord } from './store.ts';

type EffectRow = {
  readonly state: EffectRecord['state'];
  readonly github_id: string | null;
  readonly url: string | null;
  readonly content_sha256: string | null;
};

export function createEffectLog(database: Database): EffectLog {
  return {
    find: async (scope, key) => {
      const [row] = await database.query<EffectRow>(
        'select * from metainfer.effects where scope = $1 and key = $2',
        [scope, key],
      );
      if (row === undefined) return undefined;
      return { state: row.state, githubId: row.github_id, url: row.url, contentSha256: row.content_sha256 };
    },
    // From here on nobody knows what GitHub shows, until the write is found or done: the hash goes.
    begin: async (scope, key) => {
      await database.query(
        `insert into metainfer.effects (scope, key, state) values ($1, $2, 'intent')
         on conflict (scope, key) do update
         set state = 'intent', content_sha256 = null, updated_at = now()`,
        [scope, key],
      );
    },
    finish: async (scope, key, made) => {
      await database.query(
        `insert into metainfer.effects (scope, key, state, github_id, url, content_sha256)
         values ($1, $2, 'done', $3, $4, $5)
         on conflict (scope, key) do update set state = 'done', github_id = excluded.github_id,
           url = excluded.url, content_sha256 = excluded.content_sha256, updated_at = now()`,
        [scope, key, made.githubId, made.url, made.contentSha256],
      );
    },
  };
}
