import { type AgentFile, AgentPapers, type AgentWork, currentFiles, noPapers } from '../model/agent-work.ts';
import type { CompletionLedger } from '../model/completion-ledger.ts';
import { AppError } from '../model/errors.ts';
import type { LanguageModel } from '../model/language-model.ts';
import type { RepositoryConfig } from '../model/repository-config.ts';
import type { RunRecord } from '../model/run-record.ts';
import type { SpendingLimits } from '../model/spending.ts';
import type { AppContext } from './app-context.ts';
import { readRepositoryConfig } from './ask-permission.ts';

/** What agents of a run through GitHub work with. */
interface RunAgents {
  readonly model: LanguageModel;
  readonly ledger: CompletionLedger;
}

/**
 * The language model for one run: its calls are recorded with the run, and the repository's limit of the day counts.
 * @throws AppError MODEL_UNAVAILABLE where the operator took the model away since the plan was made
 */
export async function openAgents(
  context: AppContext,
  run: RunRecord,
  signal: AbortSignal,
): Promise<RunAgents> {
  const { llm } = context;
  if (llm === undefined) {
    throw new AppError(
      'MODEL_UNAVAILABLE',
      'This run needs a language model, and this app has none configured any more. Its operator sets one with METAINFER_LLM.',
    );
  }
  const { generation } = await readRepositoryConfig(context, run.repository);
  const { tokens_per_day: most } = llm.settings.limits;
  const tokensPerDay = Math.min(most, generation.tokens_per_day ?? most);
  const ledger = context.store.completionLedger(run, { tokensPerDay });
  return { model: llm.open(ledger, run.state.agents!.limits.spending, signal), ledger };
}

/** The operator's limits, lowered to what the repository allows for one run. */
export function lowerLimits(
  work: AgentWork,
  { tokens_per_run: most }: RepositoryConfig['generation'],
): AgentWork {
  if (most === undefined) return work;
  const { spending } = work.limits;
  const lowered: SpendingLimits = {
    ...spending,
    hardTokens: Math.min(spending.hardTokens, most),
    softTokens: Math.min(spending.softTokens, Math.floor(0.8 * most)),
  };
  return { ...work, limits: { ...work.limits, spending: lowered } };
}

/** @throws AppError RUN_STATE_INVALID where a file is not what an agent of this run wrote */
export async function readPapers(
  { store }: Pick<AppContext, 'store'>,
  run: Pick<RunRecord, 'id'>,
): Promise<AgentPapers> {
  const papers = AgentPapers.safeParse((await store.readDocument(run.id, 'agents')) ?? noPapers);
  if (papers.success) return papers.data;
  throw new AppError('RUN_STATE_INVALID', 'What agents of this run wrote was changed since it was saved.', {
    cause: papers.error,
  });
}

/** The files that count for the run's state, by contract. */
export async function agentFilesOf(
  context: AppContext,
  run: RunRecord,
): Promise<ReadonlyMap<string, AgentFile>> {
  const { agents } = run.state;
  return agents === undefined ? new Map() : currentFiles(agents, await readPapers(context, run));
}
