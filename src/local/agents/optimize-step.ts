import type { RunEvent, RunState } from '../../model/run.ts';
import type { PreparedEngine } from '../../preparation/prepare-engine.ts';
import { type AgentRunner, requireAgents } from './agent-steps.ts';

export async function optimizeNext(
  state: RunState,
  _prepared: PreparedEngine,
  runner: AgentRunner,
): Promise<RunEvent> {
  const agents = requireAgents(runner);
  return { type: 'optimized', kept: null, spent: await agents.ledger.spent(), isLast: true };
}
