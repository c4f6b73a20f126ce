import {
  type AgentPapers,
  type AgentWork,
  type ContractAttempt,
  currentFiles,
} from '../../model/agent-work.ts';
import { isFromTestDouble, type RecordedCall, spendingOf } from '../../model/completion-ledger.ts';
import type { GenerationRecord } from '../../model/generation-record.ts';
import { GateName } from '../../model/report.ts';
import type { Spending } from '../../model/spending.ts';

/** A text that an agent's file may resemble. */
export interface ReferenceText {
  readonly name: string;
  readonly kind: 'realization' | 'source-reference';
  readonly text: string;
}

/** What a run leaves from which its record is made. */
export interface GenerationTraces {
  readonly mode: GenerationRecord['mode'];
  readonly work: AgentWork;
  readonly papers: AgentPapers;
  /** Every call of the run, as its ledger lists them. */
  readonly calls: readonly RecordedCall[];
  readonly endpoint: string | null;
  /** What the settings and the model's adapter say; a test double in the calls says otherwise by itself. */
  readonly isReal: boolean;
  /** Wall time of the run, all sittings together. */
  readonly seconds: number;
  /** Of the whole engine, as its report counts. */
  readonly linesTotal: number;
  readonly references: readonly ReferenceText[];
  /** Share of the first text's fingerprints that the second one has, 0 to 1. */
  readonly similarity: (text: string, reference: string) => number;
}

/** The figures of a run as report.json has them. Pure: made from what was recorded, nothing is measured here. */
export function makeGenerationRecord(traces: GenerationTraces): GenerationRecord {
  const { papers, calls } = traces;
  const files = [...currentFiles(traces.work, papers).values()];
  const isRealModel = traces.isReal && calls.length > 0 && !isFromTestDouble(calls);
  return {
    mode: traces.mode,
    models: modelsOf(calls),
    endpoint: calls.length === 0 ? null : traces.endpoint,
    isRealModel,
    seconds: traces.seconds,
    spent: spendingOf(calls),
    byRole: groupSpending(calls, ({ role }) => role),
    byPhase: groupSpending(calls, ({ phase }) => phase),
    byContract: groupSpending(calls, ({ contract }) => contract ?? 'engine'),
    attempts: [...papers.attempts],
    firstPass: isRealModel ? countFirstPass(papers.attempts) : null,
    rejections: countRejections(papers.attempts),
    repairs: listRepairs(papers.attempts),
    linesByAgents: files.reduce((sum, { text }) => sum + countLines(text), 0),
    linesTotal: traces.linesTotal,
    similarity: files.flatMap(({ path, text }) => nearestReferences(path, text, traces)),
    optimizations: [...papers.optimizations],
  };
}

function modelsOf(calls: readonly RecordedCall[]): Record<string, string> {
  return Object.fromEntries(calls.map(({ role, model }) => [role, model]));
}

function groupSpending(
  calls: readonly RecordedCall[],
  keyOf: (call: RecordedCall) => string,
): Record<string, Spending> {
  const keys = [...new Set(calls.map(keyOf))];
  return Object.fromEntries(
    keys.map((key) => [key, spendingOf(calls.filter((call) => keyOf(call) === key))]),
  );
}

function attemptsByContract(attempts: readonly ContractAttempt[]): (readonly ContractAttempt[])[] {
  const contracts = [...new Set(attempts.map(({ contract }) => contract))];
  return contracts.map((contract) => attempts.filter((attempt) => attempt.contract === contract));
}

function isByProgram(source: string): boolean {
  return GateName.safeParse(source).success;
}

/** What a person asks for afterwards says nothing about the first text. */
function countFirstPass(attempts: readonly ContractAttempt[]): { accepted: number; contracts: number } {
  const contracts = attemptsByContract(attempts);
  const accepted = contracts.filter(
    ([first, ...later]) =>
      first!.outcome === 'accepted' &&
      later.every(({ told }) => !(told ?? ['unknown']).some((each) => each !== 'person')),
  );
  return { accepted: accepted.length, contracts: contracts.length };
}

/** Who rejected the text before an attempt that was accepted: only the next attempt's findings tell. */
function laterRejections(before: ContractAttempt, next: ContractAttempt): readonly string[] {
  return before.outcome === 'accepted' ? (next.told ?? []) : [];
}

function countRejections(attempts: readonly ContractAttempt[]): Record<string, number> {
  const sources = attemptsByContract(attempts).flatMap((own) =>
    own.flatMap((attempt, index) => {
      const next = own[index + 1];
      return [...attempt.rejectedBy, ...(next === undefined ? [] : laterRejections(attempt, next))];
    }),
  );
  const names = [...new Set(sources)].sort();
  return Object.fromEntries(names.map((name) => [name, sources.filter((source) => source === name).length]));
}

/** Error localisation: a contract that is never accepted again has no entry. */
function listRepairs(attempts: readonly ContractAttempt[]): GenerationRecord['repairs'] {
  return attemptsByContract(attempts).flatMap((own) => {
    const repairs: GenerationRecord['repairs'] = [];
    let open: { gate: string; from: number } | undefined;
    own.forEach((attempt, index) => {
      const before = own[index - 1];
      const reopened = before === undefined ? [] : laterRejections(before, attempt);
      const late = reopened.find(isByProgram);
      if (open === undefined && late !== undefined) open = { gate: late, from: index };
      if (attempt.outcome === 'accepted' && open !== undefined) {
        const spent = own.slice(open.from, index + 1);
        repairs.push({
          contract: attempt.contract,
          gate: open.gate,
          seconds: spent.reduce((sum, { seconds }) => sum + seconds, 0),
          calls: spent.reduce((sum, { calls }) => sum + calls, 0),
        });
        open = undefined;
      }
      const gate = attempt.rejectedBy.find(isByProgram);
      if (open === undefined && gate !== undefined) open = { gate, from: index + 1 };
    });
    return repairs;
  });
}

function countLines(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}

/** The nearest of each kind. */
function nearestReferences(
  file: string,
  text: string,
  { references, similarity }: GenerationTraces,
): GenerationRecord['similarity'] {
  const scored = references.map(({ name, kind, text: reference }) => ({
    file,
    nearest: name,
    kind,
    share: similarity(text, reference),
  }));
  return (['realization', 'source-reference'] as const).flatMap((kind) =>
    scored
      .filter((entry) => entry.kind === kind)
      .sort((a, b) => b.share - a.share)
      .slice(0, 1),
  );
}
