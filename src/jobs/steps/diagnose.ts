import { toRepairFinding } from '../../generation/agents/repair-finding.ts';
import type { RepairFinding } from '../../model/agent-work.ts';
import type { Report } from '../../model/report.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { localise } from '../../verification/localise.ts';
import type { AppContext } from '../app-context.ts';

/** Which contracts are to be repaired, and what their agents are told. */
export async function diagnose(context: AppContext, run: RunRecord): Promise<RunEvent> {
  const report = (await context.store.readDocument(run.id, 'report'))!;
  const { spent, contracts } = run.state.agents!;
  const written = new Set(contracts.map(({ contract }) => contract));
  const suspects = localise(report)
    .map(({ contract }) => contract)
    .filter((contract) => written.has(contract));
  const findings = suspects.flatMap((contract) => findingsFor(context, report, contract));
  return { type: 'diagnosed', suspects, findings, spent };
}

function findingsFor({ catalog }: AppContext, report: Report, contract: string): RepairFinding[] {
  const owner = catalog.contracts.find(({ frontMatter }) => frontMatter.id === contract)!;
  return report.gates
    .flatMap((gate) => gate.findings)
    .filter((finding) => finding.contract === contract)
    .map((finding) => toRepairFinding(finding, owner));
}
