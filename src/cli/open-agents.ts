import { join } from 'node:path';
import { createFileLedger } from '../adapters/llm/file-ledger.ts';
import { openLanguageModel } from '../adapters/llm/open-language-model.ts';
import { type OpenedLlm, openLlmSettings } from '../adapters/llm/open-llm-settings.ts';
import type { LocalAgents } from '../local/agents/local-agents.ts';
import { type CommandContext, type CommandInput, optionText } from './command.ts';

export const llmOptions = {
  llm: {
    type: 'string',
    value: 'URL|FILE',
    help: 'base URL of a language model, or YAML file with its settings; default METAINFER_LLM',
  },
  model: { type: 'string', value: 'NAME', help: 'model for all roles; default METAINFER_LLM_MODEL' },
} as const;

/** The language model that the command line or the environment names; undefined where neither does. */
export async function openLlm(input: CommandInput, context: CommandContext): Promise<OpenedLlm | undefined> {
  const { settings, model, keyOf } = context.config.llm;
  const llm = optionText(input, 'llm') ?? settings;
  if (llm === undefined) return undefined;
  return openLlmSettings({ llm, model: optionText(input, 'model') ?? model, keyOf });
}

/** What agents of one run use: their calls and what they wrote are kept in `folder`. */
export function openLocalAgents(
  { settings, apiKey }: OpenedLlm,
  folder: string,
  { progress, signal }: Pick<CommandContext, 'progress' | 'signal'>,
): LocalAgents {
  const ledger = createFileLedger(join(folder, 'calls'));
  return {
    settings,
    ledger,
    papersPath: join(folder, 'agents.json'),
    openModel: (limits) =>
      openLanguageModel(settings, {
        ...{ apiKey, ledger, limits, signal },
        onProgress: ({ role, contract, characters }) =>
          progress.detail(`${contract ?? 'engine'}: ${role}, ${characters} characters`),
        onNote: progress.note,
      }),
    describeModel: () => ({ endpoint: new URL(settings.base_url).host, isReal: settings.real_model }),
  };
}
