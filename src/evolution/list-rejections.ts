import type { AgentFile, AttemptAccount, RepairFinding } from '../model/agent-work.ts';
import type { Learnt } from '../model/lesson.ts';
import { GateName } from '../model/report.ts';

/** A text that a gate rejected and that was mended afterwards. */
export interface Rejection {
  readonly contract: string;
  readonly attempt: number;
  /** The attempt whose text stayed. */
  readonly mendedBy: number;
  readonly rejected: AgentFile;
  readonly accepted: AgentFile;
  /** Of one gate, the first that saw it. */
  readonly findings: readonly RepairFinding[];
}

/** Of its own text alone: a compiler's complaint or a rule of form is no mistake about inference. */
const formal: ReadonlySet<string> = new Set(['static', 'build']);

/** Accounts of one contract, oldest first. */
export function accountsOf({ papers }: Pick<Learnt, 'papers'>, contract: string): AttemptAccount[] {
  return (papers.accounts ?? [])
    .filter((account) => account.contract === contract)
    .sort((a, b) => a.number - b.number);
}

/**
 * Every text that cost a repair, with what was said of it: by its own gates, or by those of the whole engine, which only
 * the next attempt's agent was told.
 */
export function listRejections(learnt: Pick<Learnt, 'papers' | 'files'>): Rejection[] {
  return [...learnt.files].flatMap(([contract, accepted]) => {
    const accounts = accountsOf(learnt, contract);
    return accounts.flatMap((account, index): Rejection[] => {
      const next = accounts[index + 1];
      const rejected = learnt.papers.versions.find(
        (version) => version.contract === contract && version.sha256 === account.fileSha256,
      );
      // Without a later attempt nobody repaired anything.
      if (next === undefined || rejected === undefined || rejected.sha256 === accepted.sha256) return [];
      const findings = firstGate(account.findings.length > 0 ? account.findings : next.told);
      if (findings.length === 0) return [];
      const mendedBy = accounts.findLast(({ fileSha256 }) => fileSha256 === accepted.sha256)?.number;
      const { number } = account;
      return [{ contract, attempt: number, mendedBy: mendedBy ?? next.number, rejected, accepted, findings }];
    });
  });
}

/** Findings of the first gate that says something about inference. */
function firstGate(findings: readonly RepairFinding[]): readonly RepairFinding[] {
  const gates = findings.filter(
    ({ source, message }) =>
      GateName.safeParse(source).success && !formal.has(source) && !message.includes('does not compile'),
  );
  return gates.filter(({ source }) => source === gates[0]?.source);
}
