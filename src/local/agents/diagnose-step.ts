import { toRepairFinding } from '../../generation/agents/repair-finding.ts';
import type { Report } from '../../model/report.ts';
import type { RunEvent, RunState } from '../../model/run.ts';
import type { PreparedEngine } from '../../preparation/prepare-engine.ts';
import { localise } from '../../verification/localise.ts';
import { type AgentRunner, requireAgents } from './agent-steps.ts';

/** Who is to repair a red verdict, and what they are told. */
export async function diagnoseFailure(
  state: RunState,
  prepared: PreparedEngine,
  report: Report,
  runner: AgentRunner,
): Promise<RunEvent> {
  const agents = requireAgents(runner);
  const suspects = localise(report).map(({ contract }) => contract);
  const guilty = suspects.find((id) => state.agents!.contracts.some(({ contract }) => contract === id));
  const owner = prepared.selection.contracts.find(({ contract }) => contract.frontMatter.id === guilty);
  const findings =
    owner === undefined
      ? []
      : report.gates
          .flatMap((gate) => gate.findings)
          .filter(({ contract }) => contract === guilty)
          .map((finding) => toRepairFinding(finding, owner.contract));
  return { type: 'diagnosed', suspects, findings, spent: await agents.ledger.spent() };
}
