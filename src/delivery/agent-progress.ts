import type { AgentWork } from '../model/agent-work.ts';
import { codeSpan } from '../model/escape-text.ts';
import { grouped } from '../model/show-number.ts';
import { tokensOf } from '../model/spending.ts';
import { count } from './markdown.ts';

/** `84,120 of 2,000,000 tokens`. */
export function tokensInWords({ spent, limits }: AgentWork): string {
  return `${grouped(tokensOf(spent))} of ${grouped(limits.spending.hardTokens)} tokens`;
}

/** `$1.23`; empty where the model has no price. */
export function usdInWords(usd: number | null): string {
  if (usd === null) return '';
  return usd > 0 && usd < 0.01 ? 'less than $0.01' : `$${usd.toFixed(2)}`;
}

/** `7 of 20 contracts, 9 attempts, 84,120 of 2,000,000 tokens; now \`norm.rms\``. */
export function progressInWords(work: AgentWork): string {
  const done = work.contracts.filter(({ status }) => status === 'accepted').length;
  const tries = count(attemptsOf(work), 'attempt');
  const next = work.stop === null ? work.contracts.find(({ status }) => status === 'open') : undefined;
  const now = next === undefined ? '' : `; now ${codeSpan(next.contract, 'text', 60)} (${next.phase})`;
  return `${done} of ${count(work.contracts.length, 'contract')}, ${tries}, ${tokensInWords(work)}${now}`;
}

export function attemptsOf(work: AgentWork): number {
  return work.contracts.reduce((sum, { totalAttempts }) => sum + totalAttempts, 0);
}
