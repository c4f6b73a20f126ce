import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AgentPapers, noPapers } from '../../model/agent-work.ts';
import type { CompletionLedger } from '../../model/completion-ledger.ts';
import { AppError } from '../../model/errors.ts';
import type { LanguageModel } from '../../model/language-model.ts';
import type { LlmSettings } from '../../model/llm-settings.ts';
import type { SpendingLimits } from '../../model/spending.ts';

/** What agents of a run on this machine may use. */
export interface LocalAgents {
  readonly settings: LlmSettings;
  /** A model that keeps to these limits; every call of it goes into the run's ledger. */
  readonly openModel: (limits: SpendingLimits) => LanguageModel;
  readonly describeModel: () => { readonly endpoint: string; readonly isReal: boolean };
  readonly ledger: CompletionLedger;
  /** JSON file beside the run's state. */
  readonly papersPath: string;
}

/** Where a run whose state is kept at `statePath` keeps what its agents asked, heard and wrote. */
export function agentsFolderOf(statePath: string): string {
  return `${statePath.replace(/\.json$/, '')}.agents`;
}

export function papersPathOf(statePath: string): string {
  return papersPathIn(agentsFolderOf(statePath));
}

export function papersPathIn(agentsFolder: string): string {
  return join(agentsFolder, 'agents.json');
}

/** @throws AppError RUN_STATE_INVALID where the file is there and is something else */
export async function readPapers(path: string): Promise<AgentPapers> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return noPapers;
  try {
    return AgentPapers.parse(JSON.parse(text));
  } catch (error) {
    throw new AppError('RUN_STATE_INVALID', `${path} does not hold what agents of this run wrote.`, {
      cause: error,
    });
  }
}

/** Whole or as it was. */
export async function savePapers(path: string, papers: AgentPapers): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new AppError(
      'USAGE',
      `What agents write cannot be kept in ${dirname(path)} (${reason}): name another file with --state.`,
      {
        cause: error,
      },
    );
  }
  await writeFile(`${path}.part`, `${JSON.stringify(papers)}\n`);
  await rename(`${path}.part`, path);
}
