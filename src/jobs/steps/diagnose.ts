import { RepairFinding } from '../../model/agent-work.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import type { AppContext } from '../app-context.ts';

/** Which contracts are to be repaired, and what their agents are told. */
export async function diagnose(context: AppContext, run: RunRecord): Promise<RunEvent> {
  const report = (await context.store.readDocument(run.id, 'report'))!;
  const { spent, contracts } = run.state.agents!;
  const written = new Set(contracts.map(({ contract }) => contract));
  const findings = report.gates
    .flatMap((gate) => gate.findings)
    .filter(({ contract }) => contract !== null && written.has(contract))
    .map(({ contract, gate, file, line, message }) =>
      RepairFinding.parse({
        ...{ contract, source: gate, file, line, message },
        ...{ expected: null, got: null, clause: null },
      }),
    );
  const suspects = [...new Set(findings.map(({ contract }) => contract))];
  return { type: 'diagnosed', suspects, findings, spent };
}
