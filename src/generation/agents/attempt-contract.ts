import { createHash } from 'node:crypto';
import type { AgentFile, AttemptAccount, ContractAttempt, RepairFinding } from '../../model/agent-work.ts';
import type { AnswerOrigin, LanguageModel, ModelAnswer } from '../../model/language-model.ts';
import { checkAgentFile, maxFileBytes } from './check-agent-file.ts';
import type { ContractTask } from './contract-task.ts';
import { implementerPrompt } from './implementer-prompt.ts';
import { limitFindings } from './repair-finding.ts';
import { type Review, reviewFile } from './review-file.ts';

export interface AttemptPorts {
  readonly model: LanguageModel;
  /** The gates that judge this contract by itself; empty where they are green or run elsewhere. */
  readonly check: (file: AgentFile) => Promise<readonly RepairFinding[]>;
  /** Whether the reviewer is asked where nothing else objects. */
  readonly review: boolean;
  /** The reviewer's objections then no longer cost an attempt: they are kept for people to see. */
  readonly isLastAttempt: boolean;
  /** At this contract in the whole run, from 1; part of each question's identity. */
  readonly attempt: number;
  readonly round: number;
  readonly phase: string;
  readonly signal: AbortSignal;
}

export interface AttemptOutcome {
  readonly outcome: 'accepted' | 'rejected' | 'refused';
  /** What the next attempt is told. */
  readonly findings: readonly RepairFinding[];
  /** The reviewer's, where the file was accepted nevertheless. */
  readonly objections: readonly RepairFinding[];
  /** Null where no file came. */
  readonly file: AgentFile | null;
  readonly attempt: ContractAttempt;
  /** The same in the words that were used, for lessons. */
  readonly account: AttemptAccount;
  /** Nothing more can be done for this contract, nor for any other. */
  readonly stop: { readonly reason: string; readonly message: string } | null;
  /** Places where the contract does not say what the code had to decide: gaps of the knowledge. */
  readonly unstated: readonly { readonly clause: string; readonly reason: string }[];
  /** What a reader of the record should know: sections left out, a review that could not be used. */
  readonly notes: readonly string[];
}

/** What came of the attempt but for its accounts. */
type Judgement = Omit<AttemptOutcome, 'attempt' | 'account'> & { readonly calls: readonly AnswerOrigin[] };

/**
 * One attempt of the implementer at one contract: question, static rules, gates, reviewer.
 * @throws what the model's adapter, the gates or the signal throw; nothing is kept of the attempt then
 */
export async function attemptContract(task: ContractTask, ports: AttemptPorts): Promise<AttemptOutcome> {
  const begin = performance.now();
  const judgement = await judge(task, ports);
  const { calls, ...rest } = judgement;
  const paid = calls.filter(({ isRepeated }) => isRepeated).reduce((sum, { seconds }) => sum + seconds, 0);
  const { outcome, findings, file } = rest;
  return {
    ...rest,
    attempt: {
      contract: task.contract.id,
      phase: ports.phase,
      round: ports.round,
      number: ports.attempt,
      outcome,
      rejectedBy: outcome === 'accepted' ? [] : [...new Set(sourcesOf(findings, rest.stop))],
      told: [...new Set(task.findings.map(({ source }) => source))],
      // An answer from the record took its time in an earlier sitting.
      seconds: (performance.now() - begin) / 1000 + paid,
      calls: calls.length,
      lines: file === null ? 0 : file.text.split('\n').length - 1,
    },
    account: {
      contract: task.contract.id,
      round: ports.round,
      number: ports.attempt,
      fileSha256: file?.sha256 ?? null,
      told: limitFindings(task.findings),
      findings: outcome === 'accepted' ? [] : [...findings],
      unstated: [...rest.unstated],
    },
  };
}

function sourcesOf(findings: readonly RepairFinding[], stop: AttemptOutcome['stop']): string[] {
  return stop === null ? findings.map(({ source }) => source) : ['answer'];
}

async function judge(task: ContractTask, ports: AttemptPorts): Promise<Judgement> {
  const answer = await ports.model.ask(
    {
      role: 'implementer',
      contract: task.contract.id,
      phase: ports.phase,
      attempt: ports.attempt,
      ...implementerPrompt(task),
      expects: { kind: 'files', paths: [task.path], maxBytes: maxFileBytes },
    },
    ports.signal,
  );
  const calls = answer.origin === null ? [] : [answer.origin];
  const notes = notesOf(calls);
  const blank = { objections: [], stop: null, unstated: [], notes, calls };
  const file = toAgentFile(task, ports.attempt, answer);
  if (file === undefined) return { ...blank, ...refuse(task, answer), file: null };
  const faults = checkAgentFile(file, task);
  const findings = limitFindings(faults.length > 0 ? faults : await ports.check(file));
  if (findings.length > 0) return { ...blank, outcome: 'rejected', findings, file };
  const review = ports.review ? await reviewFile(task, file, ports) : undefined;
  return settleReview(blank, file, review, ports.isLastAttempt);
}

function settleReview(
  blank: Pick<Judgement, 'objections' | 'stop' | 'unstated' | 'notes' | 'calls'>,
  file: AgentFile,
  review: Review | undefined,
  isLastAttempt: boolean,
): Judgement {
  if (review === undefined) return { ...blank, outcome: 'accepted', findings: [], file };
  const reviewed = {
    ...blank,
    file,
    unstated: review.unstated,
    notes: [...blank.notes, ...review.notes],
    calls: review.origin === null ? blank.calls : [...blank.calls, review.origin],
  };
  const isRejected = review.objections.length > 0 && !isLastAttempt;
  return isRejected
    ? { ...reviewed, outcome: 'rejected', findings: review.objections }
    : { ...reviewed, outcome: 'accepted', findings: [], objections: review.objections };
}

/** The file of an answer; undefined where there is none of the wanted name. */
export function toAgentFile(
  task: Pick<ContractTask, 'contract' | 'path'>,
  attempt: number,
  answer: ModelAnswer,
): AgentFile | undefined {
  if (answer.kind !== 'files') return undefined;
  const given = answer.files.find(({ path }) => path === task.path);
  if (given === undefined) return undefined;
  const text = `${given.text.replace(/\r\n?/g, '\n').trimEnd()}\n`;
  return {
    contract: task.contract.id,
    path: task.path,
    text,
    sha256: createHash('sha256').update(text).digest('hex'),
    origin: { model: answer.origin.model, requestSha256: answer.origin.requestSha256, attempt },
  };
}

/** No file: what the model is told next, or why nothing more is tried. Earlier findings still hold. */
function refuse(task: ContractTask, answer: ModelAnswer): Pick<Judgement, 'outcome' | 'findings' | 'stop'> {
  const reason = answer.kind === 'refusal' ? answer.reason : 'wrong-path';
  const message =
    answer.kind === 'refusal'
      ? answer.message
      : `The answer holds no file named ${task.path}; give exactly that one.`;
  // Asked again, both would come out the same.
  if (reason === 'budget' || reason === 'context-overflow') {
    return { outcome: 'refused', findings: task.findings, stop: { reason, message } };
  }
  const finding: RepairFinding = {
    contract: task.contract.id,
    source: 'answer',
    file: task.path,
    line: null,
    message: message.slice(0, 4000),
    expected: `one file, ${task.path}, whole`,
    got: `no usable answer: ${reason}`,
    clause: null,
  };
  const kept = task.findings.filter(({ source }) => source !== 'answer');
  return { outcome: 'refused', findings: limitFindings([finding, ...kept]), stop: null };
}

function notesOf(origins: readonly AnswerOrigin[]): string[] {
  return origins
    .filter(({ leftOut }) => leftOut.length > 0)
    .map(({ leftOut }) => `the prompt did not fit the context; left out: ${leftOut.join(', ')}`);
}
