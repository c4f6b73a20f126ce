import type { Logger } from 'pino';
import type { AppClient, RepositoryClient } from '../adapters/github/repository-client.ts';
import type { Queues, Store } from '../adapters/store/store.ts';
import type { Catalog } from '../model/catalog.ts';
import type { CompletionLedger } from '../model/completion-ledger.ts';
import type { RepositoryRef } from '../model/github.ts';
import type { LanguageModel } from '../model/language-model.ts';
import type { LlmSettings } from '../model/llm-settings.ts';
import type { SpendingLimits } from '../model/spending.ts';
import type { Target } from '../model/target.ts';

/** What the workflow file of a repository must call. */
export interface Home {
  /** `owner/name` of the repository that holds knowledge, the harness and the composite action. */
  readonly repository: string;
  /** Commit of it that runners use. */
  readonly sha: string;
}

/** Everything that a job may use; built by app.ts. */
export interface AppContext {
  readonly store: Store;
  readonly queues: Pick<Queues, 'sendStep'>;
  readonly app: AppClient;
  readonly catalog: Catalog;
  readonly log: Logger;
  /** Absent where the operator configured no language model: then contracts without a realization are missing. */
  readonly llm?: {
    readonly settings: LlmSettings;
    /** For one run: what it asks is recorded in its ledger, and kept within its limits. */
    readonly open: (ledger: CompletionLedger, limits: SpendingLimits, signal: AbortSignal) => LanguageModel;
  };
  readonly home: Home;
  /** Where people reach the dashboard, without a slash at the end; null where there is no public address. */
  readonly publicUrl: string | null;
  /** Where people reach GitHub: https://github.com, or the local stand-in. */
  readonly githubUrl: string;
  /** Labels of the runners that can judge an engine for this target. */
  readonly labelsFor: (
    target: Pick<Target, 'hardware.platform' | 'hardware.arch'>,
  ) => readonly string[] | undefined;
  /** For /metrics. */
  readonly observeStep: (
    step: string,
    outcome: 'done' | 'postponed' | 'failed' | 'cancelled',
    seconds: number,
  ) => void;
  readonly now: () => Date;
}

export function clientOf(context: AppContext, repository: RepositoryRef): RepositoryClient {
  return context.app.repository(repository);
}

export const workflowPath = '.github/workflows/metainfer-engine.yml';
export const repositoryConfigPath = '.github/metainfer.yml';
export const approvedLabel = 'metainfer:approved';
export const needsKnowledgeLabel = 'metainfer:needs-knowledge';
