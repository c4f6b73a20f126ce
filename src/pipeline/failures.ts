import { errorCodes } from '../model/errors.ts';
import type { RunFailure, RunState, RunStep } from '../model/run.ts';

export function coverageFailure(missing: readonly string[]): RunFailure {
  return {
    step: 'plan',
    code: 'NOT_COVERED',
    message: `Knowledge does not cover this engine yet:\n${missing.map((line) => `- ${line}`).join('\n')}`,
    next: 'Change the constraint file to something covered, add the missing realization to knowledge/, or configure a language model that writes it.',
  };
}

export function verificationFailure(step: RunStep, state: RunState): RunFailure {
  const { findings, guilty } = state.verification!;
  return {
    step,
    code: 'VERDICT_FAILED',
    message: `Verification failed.\n${findings.map((line) => `- ${line}`).join('\n')}`,
    next: adviceForGuilty(guilty, state),
  };
}

function adviceForGuilty(guilty: readonly string[], state: RunState): string {
  const written = new Set(state.agents?.contracts.map(({ contract }) => contract));
  const byAgents = guilty.filter((contract) => written.has(contract));
  if (byAgents.length > 0)
    return `The findings point at ${byAgents.join(', ')}, which agents wrote; their attempts or the budget are used up.`;
  return guilty.length > 0
    ? `The findings point at ${guilty.join(', ')}. All of it comes from verified knowledge, so there is no agent to repair it: please look at these realizations.`
    : 'Read the findings in the report; they name no contract.';
}

export function benchmarkFailure(step: RunStep, goals: readonly string[]): RunFailure {
  return {
    step,
    code: 'VERDICT_FAILED',
    message: `The engine is right but misses what was asked of it.\n${goals.map((line) => `- ${line}`).join('\n')}`,
    next: 'Relax the goal, or choose other hardware or number formats.',
  };
}

export function adviceFor(code: string, state: RunState): string {
  const known = (errorCodes as Record<string, { source: string }>)[code];
  const isGithub = state.input.origin === 'github';
  if (known?.source === 'user') {
    return isGithub
      ? 'Correct what the message names; editing the constraint file starts anew, `/metainfer retry` repeats this run.'
      : 'Correct what the message names and start again.';
  }
  if (known?.source === 'external') {
    return isGithub
      ? 'The engine is not to blame. Once the cause is gone, `/metainfer retry` repeats this run.'
      : 'Run `metainfer doctor` to see what this machine lacks.';
  }
  return 'This is a fault of the program; please report it with the run id.';
}

/** For a person: which contract, why, and what can be done. */
export function stopFailure(state: RunState): RunFailure {
  const work = state.agents!;
  const { reason, contract, message } = work.stop!;
  const entry = work.contracts.find((candidate) => candidate.contract === contract);
  const findings = (entry?.findings ?? [])
    .slice(0, 5)
    .map((finding) => `- ${finding.source}: ${finding.message.slice(0, 300)}`);
  const isBudget = reason === 'budget' || reason === 'soft-limit';
  return {
    step: 'generate',
    code: isBudget ? 'BUDGET_EXHAUSTED' : 'VERDICT_FAILED',
    message: [message, ...findings].join('\n'),
    next: adviceAfterStop(state, isBudget),
  };
}

function adviceAfterStop(state: RunState, isBudget: boolean): string {
  const isGithub = state.input.origin === 'github';
  if (state.agents!.stop!.reason === 'context-overflow')
    return 'The prompt is longer than the model takes: name a model with a larger context, and set context_tokens in the settings.';
  if (isBudget) {
    return isGithub
      ? 'What was accepted so far is on the branch. Where the operator of this app allows more, `/metainfer retry` goes on; a higher `generation.budget` in the constraint file begins a new run.'
      : 'What was accepted so far is kept, and what was paid is used again: start again with --resume and a higher --budget. Where generation.budget of the constraint file is the limit, raise it there and start with the same --state.';
  }
  return isGithub
    ? 'The best state is on the branch. `/metainfer fix <what is wrong>` on a line of it tells the agent what to change, `/metainfer retry` gives it fresh attempts; a sharper contract in knowledge/ helps every later run.'
    : 'The best state is in the engine folder. Read the findings; a sharper contract in knowledge/, another model or more attempts (limits.attempts_per_contract) may help.';
}
