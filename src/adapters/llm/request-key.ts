import { createHash } from 'node:crypto';
import type { AgentRole, ModelRequest } from '../../model/language-model.ts';
import type { LlmSettings } from '../../model/llm-settings.ts';

export interface RoleSettings {
  readonly model: string;
  readonly temperature: number | undefined;
  readonly seed: number | undefined;
  readonly reasoningEffort: string | undefined;
  readonly maxOutputTokens: number;
}

/** Settings of the role, the general ones where it has none of its own. */
export function settingsOf(settings: LlmSettings, role: AgentRole): RoleSettings {
  const own = settings.roles[role];
  return {
    model: own?.model ?? settings.model,
    temperature: own?.temperature ?? settings.temperature,
    seed: own?.seed ?? settings.seed,
    reasoningEffort: own?.reasoning_effort ?? settings.reasoning_effort,
    maxOutputTokens: own?.max_output_tokens ?? settings.max_output_tokens,
  };
}

/** One part of an answer (1 and 2 continue one that was cut off), and which time it is asked for. */
export interface CallNumber {
  readonly part: number;
  readonly failures: number;
}

/**
 * Finds the call in the record. It is taken of the question before anything is left out of it for lack of room: how
 * much fits depends on what the endpoint has reported so far, and a restart must find the answer all the same.
 */
export function keyOfCall(settings: LlmSettings, request: ModelRequest, number: CallNumber): string {
  const { role, attempt, system, sections, expects } = request;
  const question = {
    endpoint: settings.base_url,
    settings: settingsOf(settings, role),
    ...{ role, contract: request.contract, attempt, system, expects },
    sections: sections.map(({ title, text }) => [title, text]),
    ...number,
  };
  return createHash('sha256').update(JSON.stringify(question)).digest('hex');
}
