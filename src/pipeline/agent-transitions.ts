import { type AgentWork, type ContractWork, nextContract, type RepairFinding } from '../model/agent-work.ts';
import type { RunEvent, RunState } from '../model/run.ts';
import { isWithinSoftLimit, tokensOf } from '../model/spending.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

/** What the step `generate` does now. */
export type GenerationTask =
  | { readonly kind: 'attempt'; readonly work: ContractWork }
  /** Put the files together: all of them, or those of the phases that are settled. */
  | { readonly kind: 'compose'; readonly isComplete: boolean };

/** On GitHub every settled phase is put together and published before the next one begins. */
export function generationTask(state: Pick<RunState, 'agents' | 'input'>): GenerationTask {
  const { agents } = state;
  if (agents === undefined) return { kind: 'compose', isComplete: true };
  const next = nextContract(agents);
  if (next === undefined) return { kind: 'compose', isComplete: agents.stop === null };
  const hasUnpublished = settledPhases(agents).some((phase) => !agents.publishedPhases.includes(phase));
  if (state.input.origin === 'github' && hasUnpublished) return { kind: 'compose', isComplete: false };
  return { kind: 'attempt', work: next };
}

function settledPhases(work: AgentWork): string[] {
  const open = new Set(work.contracts.filter(({ status }) => status === 'open').map(({ phase }) => phase));
  return [...new Set(work.contracts.map(({ phase }) => phase))].filter((phase) => !open.has(phase));
}

/** Takes an attempt into account: the contract is settled, or tried again, or everything stops. */
export function afterAttempt(work: AgentWork, event: EventOf<'contract-attempted'>): AgentWork {
  const contracts = work.contracts.map((entry) =>
    entry.contract === event.contract ? settle(entry, event, work.limits.attemptsPerContract) : entry,
  );
  const moved = { ...work, contracts, spent: event.spent };
  return { ...moved, stop: findStop(moved, event) };
}

function settle(entry: ContractWork, event: EventOf<'contract-attempted'>, most: number): ContractWork {
  const attempts = entry.attempts + 1;
  const status =
    event.outcome === 'accepted'
      ? 'accepted'
      : event.stop !== null
        ? 'stopped'
        : attempts >= most
          ? 'failed'
          : 'open';
  return {
    ...entry,
    status,
    attempts,
    totalAttempts: entry.totalAttempts + 1,
    findings: [...event.findings],
    objections: [...event.objections],
    fileSha256: event.fileSha256 ?? entry.fileSha256,
  };
}

function findStop(work: AgentWork, event: EventOf<'contract-attempted'>): AgentWork['stop'] {
  if (event.stop !== null) return { ...event.stop, contract: event.contract };
  const entry = work.contracts.find(({ contract }) => contract === event.contract);
  if (entry?.status === 'failed') {
    const message = `${entry.contract} was not right after ${countAttempts(entry.attempts)}.`;
    return { reason: 'attempts', contract: entry.contract, message };
  }
  const next = work.contracts.find(({ status }) => status === 'open');
  const isNewWork = next !== undefined && next.phase !== entry?.phase;
  return isNewWork ? softStop(work, next.contract) : null;
}

function softStop(work: AgentWork, contract: string | null): AgentWork['stop'] {
  if (isWithinSoftLimit(work.spent, work.limits.spending)) return null;
  const message = `The soft limit is reached (${tokensOf(work.spent)} of ${work.limits.spending.softTokens} tokens): the phase at hand was finished and no new work begun.`;
  return { reason: 'soft-limit', contract, message };
}

/** Gates that judge one contract by itself. */
const contractGates: ReadonlySet<string> = new Set(['static', 'build', 'unit']);

function isContractLevel(state: RunState): boolean {
  const red = state.verification?.redGates ?? [];
  return red.length > 0 && red.every((gate) => contractGates.has(gate));
}

/** Whether a red verdict is worth a look for the cause: there is somebody to repair it, and the limits allow it. */
export function canRepair(state: RunState): boolean {
  const { agents } = state;
  if (agents === undefined || agents.contracts.length === 0 || agents.stop !== null) return false;
  if (!isWithinSoftLimit(agents.spent, agents.limits.spending)) return false;
  return isContractLevel(state) || agents.round < agents.limits.rounds;
}

/** Opens the contracts that the findings name; undefined where none of them may be tried again. */
export function afterDiagnosis(state: RunState, event: EventOf<'diagnosed'>): AgentWork | undefined {
  const work = { ...state.agents!, spent: event.spent };
  const isLocal = isContractLevel(state);
  const most = work.limits.attemptsPerContract;
  const isNamed = ({ contract, attempts }: ContractWork): boolean =>
    event.findings.some((finding) => finding.contract === contract) && (!isLocal || attempts < most);
  if (!work.contracts.some(isNamed)) return undefined;
  return reopen({ ...work, round: isLocal ? work.round : work.round + 1 }, event.findings, isNamed, !isLocal);
}

/** A person's wish: the named contracts are tried again with fresh attempts, whatever stopped the run before. */
export function afterFixRequest(work: AgentWork, findings: readonly RepairFinding[]): AgentWork | undefined {
  const isNamed = ({ contract }: ContractWork): boolean =>
    findings.some((finding) => finding.contract === contract);
  if (!work.contracts.some(isNamed)) return undefined;
  const open = reopenUnsettled(work);
  return reopen({ ...open, round: 1 }, findings, isNamed, true);
}

/** What stopped a run is forgotten: what was not accepted is tried again. */
export function reopenUnsettled(work: AgentWork): AgentWork {
  const isUnsettled = ({ status }: ContractWork): boolean => status === 'failed' || status === 'stopped';
  const phases = new Set(work.contracts.filter(isUnsettled).map(({ phase }) => phase));
  return {
    ...work,
    stop: null,
    contracts: work.contracts.map((entry) =>
      isUnsettled(entry) ? { ...entry, status: 'open', attempts: 0 } : entry,
    ),
    publishedPhases: work.publishedPhases.filter((phase) => !phases.has(phase)),
  };
}

function reopen(
  work: AgentWork,
  findings: readonly RepairFinding[],
  isNamed: (entry: ContractWork) => boolean,
  isFresh: boolean,
): AgentWork {
  const phases = new Set(work.contracts.filter(isNamed).map(({ phase }) => phase));
  return {
    ...work,
    contracts: work.contracts.map((entry) =>
      isNamed(entry)
        ? {
            ...entry,
            status: 'open',
            attempts: isFresh ? 0 : entry.attempts,
            findings: findings.filter(({ contract }) => contract === entry.contract).slice(0, 12),
          }
        : entry,
    ),
    publishedPhases: work.publishedPhases.filter((phase) => !phases.has(phase)),
  };
}

/** The files of the settled phases are in place. */
export function afterComposition(work: AgentWork): AgentWork {
  return { ...work, publishedPhases: settledPhases(work) };
}

/** A kept proposal of the optimizer: from then on an agent's file fills the contract, whatever did before. */
export function withBetterFile(work: AgentWork, contract: string, fileSha256: string): AgentWork {
  const isKnown = work.contracts.some((entry) => entry.contract === contract);
  const blank = { attempts: 0, totalAttempts: 0, findings: [], objections: [] };
  const added: ContractWork = { contract, phase: 'optimization', status: 'accepted', ...blank, fileSha256 };
  return {
    ...work,
    contracts: isKnown
      ? work.contracts.map((entry) => (entry.contract === contract ? { ...entry, fileSha256 } : entry))
      : [...work.contracts, added],
  };
}

/** Whether one more proposal of the optimizer may be asked for. */
export function mayOptimize(work: AgentWork | undefined): boolean {
  if (work === undefined || work.stop !== null) return false;
  return (
    work.optimizations < work.limits.optimizations && isWithinSoftLimit(work.spent, work.limits.spending)
  );
}

function countAttempts(count: number): string {
  return count === 1 ? 'one attempt' : `${count} attempts`;
}
