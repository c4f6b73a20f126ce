import { join } from 'node:path';
import { createFileLedger } from '../adapters/llm/file-ledger.ts';
import { openLanguageModel } from '../adapters/llm/open-language-model.ts';
import { type OpenedLlm, openLlmSettings } from '../adapters/llm/open-llm-settings.ts';
import { agentsFolderOf, type LocalAgents, papersPathIn } from '../local/agents/local-agents.ts';
import { AppError } from '../model/errors.ts';
import type { LlmSettings } from '../model/llm-settings.ts';
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
    papersPath: papersPathIn(folder),
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

export const agentOptions = {
  ...llmOptions,
  optimize: {
    type: 'string',
    value: 'N',
    help: 'proposals for a faster realization after a pass; default 0',
  },
  budget: { type: 'string', value: 'TOKENS', help: 'most tokens that the run may use' },
} as const;

/** Agents of a run whose state is kept at `statePath`; undefined where no language model is named. */
export async function openAgents(
  input: CommandInput,
  context: CommandContext,
  statePath: string,
): Promise<LocalAgents | undefined> {
  const [optimizations, tokens] = [countOption(input, 'optimize'), countOption(input, 'budget')];
  const opened = await openLlm(input, context);
  if (opened === undefined) {
    const orphan = ['optimize', 'budget', 'model'].find((name) => optionText(input, name) !== undefined);
    if (orphan === undefined) return undefined;
    throw new AppError(
      'USAGE',
      `--${orphan} is for a language model: name one with --llm URL, or set METAINFER_LLM.`,
    );
  }
  const { settings, apiKey } = opened;
  const chosen: LlmSettings = {
    ...settings,
    optimizations: optimizations ?? settings.optimizations,
    limits: { ...settings.limits, hard_tokens: tokens ?? settings.limits.hard_tokens },
  };
  return openLocalAgents({ settings: chosen, apiKey }, agentsFolderOf(statePath), context);
}

function countOption(input: CommandInput, name: string): number | undefined {
  const written = optionText(input, name);
  if (written === undefined) return undefined;
  if (/^\d{1,9}$/.test(written)) return Number(written);
  throw new AppError('USAGE', `--${name} is "${written}"; expected a whole number.`);
}
