import type { LocalAgents } from '../local/agents/local-agents.ts';
import { AppError } from '../model/errors.ts';
import type { LlmSettings } from '../model/llm-settings.ts';
import { type CommandContext, type CommandInput, optionText } from './command.ts';
import { llmOptions, openLlm, openLocalAgents } from './open-agents.ts';

/** Options of a build in which agents may have a part. */
export const buildAgentOptions = {
  ...llmOptions,
  budget: { type: 'string', value: 'TOKENS', help: 'tokens that agents may use at most' },
  optimize: {
    type: 'string',
    value: 'N',
    help: 'after a pass, ask up to N times for a faster realization',
  },
} as const;

/**
 * The agents of a run whose state lies at `statePath`, their papers beside it; undefined where no model is named.
 * @throws AppError USAGE, SETTINGS_INVALID
 */
export async function openBuildAgents(
  input: CommandInput,
  context: CommandContext,
  statePath: string,
): Promise<LocalAgents | undefined> {
  const optimizations = countOption(input, 'optimize', 50);
  const budget = countOption(input, 'budget', 1_000_000_000);
  const opened = await openLlm(input, context);
  if (opened === undefined) {
    const alone = ['model', 'budget', 'optimize'].find((name) => input.options[name] !== undefined);
    if (alone === undefined) return undefined;
    throw new AppError(
      'USAGE',
      `--${alone} says something about a language model, and none is named: add --llm http://localhost:11434/v1 (or set METAINFER_LLM).`,
    );
  }
  const { settings } = opened;
  const changed: LlmSettings = {
    ...settings,
    optimizations: optimizations ?? settings.optimizations,
    limits: { ...settings.limits, hard_tokens: budget ?? settings.limits.hard_tokens },
  };
  const folder = statePath.replace(/\.json$/, '.agents');
  return openLocalAgents({ ...opened, settings: changed }, folder, context);
}

function countOption(input: CommandInput, name: string, most: number): number | undefined {
  const written = optionText(input, name);
  if (written === undefined) return undefined;
  if (/^\d{1,12}$/.test(written) && Number(written) <= most) return Number(written);
  throw new AppError('USAGE', `--${name} is "${written}"; expected a whole number of at most ${most}.`);
}
