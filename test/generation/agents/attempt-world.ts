import type { AttemptPorts } from '../../../src/generation/agents/attempt-contract.ts';
import type { RepairFinding } from '../../../src/model/agent-work.ts';
import type { LlmSettings } from '../../../src/model/llm-settings.ts';
import type { SpendingLimits } from '../../../src/model/spending.ts';
import { type KnowledgeReplies, repliesFromKnowledge } from '../../support/model-server/knowledge-replies.ts';
import type { ModelServerOptions } from '../../support/model-server/server-options.ts';
import { type AgentWorld, engineOf } from './agent-world.ts';
import { openScriptedModel, type ScriptedModel } from './scripted-model.ts';

const open: ScriptedModel[] = [];

/** A model that answers with our realizations, but where told otherwise. */
export async function openScripted(
  world: AgentWorld,
  overrides: KnowledgeReplies = {},
  options: Partial<ModelServerOptions> = {},
  settings: Partial<LlmSettings> = {},
  limits?: SpendingLimits,
): Promise<ScriptedModel> {
  const replies = repliesFromKnowledge(engineOf(world).selection, overrides);
  const one = await openScriptedModel({ replies, ...options }, settings, limits);
  open.push(one);
  return one;
}

export async function closeScripted(): Promise<void> {
  await Promise.all(open.splice(0).map((scripted) => scripted.close()));
}

export function portsOf({ model }: ScriptedModel, change: Partial<AttemptPorts> = {}): AttemptPorts {
  return {
    model,
    check: async () => [],
    review: true,
    isLastAttempt: false,
    attempt: 1,
    round: 1,
    phase: 'operations',
    signal: new AbortController().signal,
    ...change,
  };
}

export const unitFinding: RepairFinding = {
  contract: 'norm.rms',
  source: 'unit',
  file: 'norm_rms.cpp',
  line: null,
  message: 'norm.rms#small_row: out: expected 0.5 got 0.4',
  expected: '0.5',
  got: '0.4',
  clause: 'eps stands inside the root',
};
