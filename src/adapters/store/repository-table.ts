import type { RepositoryRef } from '../../model/github.ts';
import type { Database, Transaction } from './database.ts';
import type { Store } from './store.ts';

/** What repositories are called now, who owns them and by which installation they are reached. */
export function createRepositoryTable(database: Database): Pick<Store, 'noteRepository'> {
  return {
    noteRepository: (repository, told) =>
      database.transaction(async (transaction) => {
        const ref = JSON.stringify(repository);
        const taken = await transaction.query(
          `insert into metainfer.repositories as known (id, ref, updated_at, told_at) values ($1, $2, $3, $4)
           on conflict (id) do update
             set ref = excluded.ref, updated_at = excluded.updated_at, told_at = excluded.told_at
             where (excluded.updated_at, excluded.told_at) >= (known.updated_at, known.told_at)
           returning 1`,
          [repository.id, ref, told.updatedAt ?? new Date(0), told.receivedAt],
        );
        if (taken.length === 0) return;
        await transaction.query(
          'update metainfer.runs set repository = $2 where repository_id = $1 and repository <> $2',
          [repository.id, ref],
        );
      }),
  };
}

/** What is known of the repository, `told` where nothing is. Stays so until the transaction ends. */
export async function currentRepository(
  transaction: Transaction,
  told: RepositoryRef,
): Promise<RepositoryRef> {
  const [row] = await transaction.query<{ ref: string }>(
    'select ref from metainfer.repositories where id = $1 for share',
    [told.id],
  );
  return row === undefined ? told : (JSON.parse(row.ref) as RepositoryRef);
}
