import type { Actor } from '../../model/github.ts';
import type { Database } from './database.ts';
import { plainText } from './plain-text.ts';
import type { Store } from './store.ts';

type RepositoryNotes = Pick<Store, 'addApproval' | 'findApproval' | 'noteRunner' | 'seenRunners'>;

/** What is remembered about a repository beside its runs: approvals and the runners seen. */
export function createRepositoryNotes(database: Database): RepositoryNotes {
  return {
    addApproval: async (repositoryId, issue, requestSha256, by) => {
      await database.query(
        `insert into metainfer.approvals (repository_id, issue, request_sha256, approved_by)
         values ($1, $2, $3, $4) on conflict (repository_id, issue, request_sha256)
         do update set approved_by = excluded.approved_by, approved_at = now()`,
        [repositoryId, issue, requestSha256, JSON.stringify(by)],
      );
    },
    findApproval: async (repositoryId, issue, requestSha256) => {
      const [row] = await database.query<{ approved_by: string }>(
        `select approved_by from metainfer.approvals
         where repository_id = $1 and issue = $2 and request_sha256 = $3`,
        [repositoryId, issue, requestSha256],
      );
      return row === undefined ? undefined : (JSON.parse(row.approved_by) as Actor);
    },
    noteRunner: async (repositoryId, name, labels) => {
      await database.query(
        `insert into metainfer.runners (repository_id, name, labels) values ($1, $2, $3)
         on conflict (repository_id, name) do update set labels = excluded.labels, seen_at = now()`,
        [repositoryId, plainText(name, 200), JSON.stringify(labels)],
      );
    },
    seenRunners: async (repositoryId) => {
      const rows = await database.query<{ name: string; labels: string; seen_at: Date }>(
        `select name, labels, seen_at from metainfer.runners
         where repository_id = $1 order by seen_at desc limit 50`,
        [repositoryId],
      );
      return rows.map((row) => ({ name: row.name, labels: JSON.parse(row.labels), at: row.seen_at }));
    },
  };
}
