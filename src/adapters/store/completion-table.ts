import {
  type BegunCall,
  type CompletionLedger,
  type FinishedCall,
  type RecordedCall,
  spendingOf,
} from '../../model/completion-ledger.ts';
import type { Database } from './database.ts';
import type { Store } from './store.ts';

/** What was asked of language models, by run. Rows are only added; a call that came back gets its outcome. */
export function createCompletionTable(database: Database): Pick<Store, 'completionLedger'> {
  return {
    completionLedger: ({ id, repository }, { tokensPerDay }) => {
      const list = () => listCalls(database, id);
      return {
        find: async (key) => (await listCalls(database, id, key)).at(-1),
        begin: (call) => begin(database, id, repository.id, call),
        finish: (key, outcome) => finish(database, id, key, outcome),
        spent: async () => spendingOf(await list()),
        leftToday: async () =>
          tokensPerDay === null
            ? null
            : Math.max(0, tokensPerDay - (await spentToday(database, repository.id))),
        list,
      } satisfies CompletionLedger;
    },
  };
}

type CompletionRow = { readonly call: string; readonly finished: string | null };

async function listCalls(database: Database, runId: string, key?: string): Promise<RecordedCall[]> {
  const rows = await database.query<CompletionRow>(
    `select call, finished from metainfer.completions
     where run_id = $1 and ($2::text is null or key = $2) order by id`,
    [runId, key ?? null],
  );
  return rows.map(({ call, finished }) => ({
    ...(JSON.parse(call) as BegunCall),
    finished: finished === null ? null : (JSON.parse(finished) as FinishedCall),
  }));
}

async function begin(database: Database, runId: string, repositoryId: number, call: BegunCall) {
  await database.query(
    'insert into metainfer.completions (run_id, repository_id, key, call, tokens) values ($1, $2, $3, $4, $5)',
    [runId, repositoryId, call.key, JSON.stringify(call), call.reservedTokens],
  );
}

async function finish(database: Database, runId: string, key: string, outcome: FinishedCall) {
  const { usage } = outcome;
  await database.query(
    `update metainfer.completions set finished = $3, tokens = coalesce($4, tokens) where id =
       (select max(id) from metainfer.completions where run_id = $1 and key = $2)`,
    [
      ...[runId, key, JSON.stringify(outcome)],
      usage === null ? null : usage.promptTokens + usage.completionTokens,
    ],
  );
}

/** Of the last 24 hours: a limit that ends at midnight would allow twice as much around it. */
async function spentToday(database: Database, repositoryId: number): Promise<number> {
  const [row] = await database.query<{ tokens: string }>(
    `select coalesce(sum(tokens), 0) as tokens from metainfer.completions
     where repository_id = $1 and begun_at > now() - interval '24 hours'`,
    [repositoryId],
  );
  return Number(row!.tokens);
}
