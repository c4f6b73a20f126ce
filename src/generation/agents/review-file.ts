import { z } from 'zod';
import type { AgentFile, RepairFinding } from '../../model/agent-work.ts';
import type { AnswerOrigin, LanguageModel } from '../../model/language-model.ts';
import type { ContractTask } from './contract-task.ts';
import { type Clause, listClauses } from './list-clauses.ts';
import { limitFindings } from './repair-finding.ts';
import { reviewerPrompt, reviewSchema } from './reviewer-prompt.ts';

const ReviewAnswer = z.object({
  clauses: z
    .array(
      z.object({
        clause: z.string(),
        verdict: z.enum(['met', 'violated', 'unstated']),
        line: z.number().nullable(),
        reason: z.string(),
      }),
    )
    .max(1000),
});
type Verdict = z.infer<typeof ReviewAnswer>['clauses'][number];

export interface Review {
  /** Clauses that the code breaks, each with its line. */
  readonly objections: readonly RepairFinding[];
  /** What the contract leaves open and the code had to decide. */
  readonly unstated: readonly { readonly clause: string; readonly reason: string }[];
  /** What of the review could not be used, and why. */
  readonly notes: readonly string[];
  readonly origin: AnswerOrigin | null;
}

/** A second look by a model that sees contract and code alone. What it says badly counts for nothing. */
export async function reviewFile(
  task: ContractTask,
  file: AgentFile,
  ports: {
    readonly model: LanguageModel;
    readonly phase: string;
    readonly attempt: number;
    readonly signal: AbortSignal;
  },
): Promise<Review> {
  const clauses = listClauses(task.contract);
  const answer = await ports.model.ask(
    {
      role: 'reviewer',
      contract: task.contract.id,
      phase: ports.phase,
      attempt: ports.attempt,
      ...reviewerPrompt(task, file.text, clauses),
      expects: { kind: 'json', name: 'review', schema: reviewSchema },
    },
    ports.signal,
  );
  const blank = { objections: [], unstated: [], origin: answer.origin };
  if (answer.kind === 'refusal')
    return { ...blank, notes: [`not reviewed: ${answer.reason}: ${answer.message}`] };
  const parsed = answer.kind === 'json' ? ReviewAnswer.safeParse(answer.value) : undefined;
  if (parsed?.data === undefined)
    return { ...blank, notes: ['not reviewed: the review does not fit its schema'] };
  return { ...readVerdicts(parsed.data.clauses, clauses, task, file), origin: answer.origin };
}

function readVerdicts(
  verdicts: readonly Verdict[],
  clauses: readonly Clause[],
  task: ContractTask,
  file: AgentFile,
): Omit<Review, 'origin'> {
  const known = new Map(clauses.map(({ id, text }) => [id, text]));
  const lines = file.text.split('\n');
  const objections: RepairFinding[] = [];
  const unstated: { clause: string; reason: string }[] = [];
  const notes: string[] = [];
  for (const verdict of verdicts) {
    if (verdict.verdict === 'met') continue;
    const clause = known.get(verdict.clause);
    const fault = verdict.verdict === 'violated' ? faultOf(verdict, clause, lines) : undefined;
    if (fault !== undefined) notes.push(`an objection was ignored: ${fault}`);
    else if (verdict.verdict === 'unstated') {
      unstated.push({ clause: verdict.clause.slice(0, 200), reason: verdict.reason.slice(0, 1000) });
    } else objections.push(toObjection(verdict, clause ?? '', lines, task));
  }
  return { objections: limitFindings(objections), unstated: unstated.slice(0, 50), notes };
}

/** Why an objection cannot be acted upon; undefined where it can. */
function faultOf(
  { clause: id, line, reason }: Verdict,
  clause: string | undefined,
  lines: readonly string[],
): string | undefined {
  if (clause === undefined) return `the contract has no clause ${JSON.stringify(id.slice(0, 100))}`;
  if (line === null || !Number.isInteger(line) || line < 1 || line >= lines.length)
    return `${id}: the file has no line ${line}`;
  return reason.trim() === '' ? `${id}: no reason is given` : undefined;
}

function toObjection(
  { clause: id, line, reason }: Verdict,
  clause: string,
  lines: readonly string[],
  task: ContractTask,
): RepairFinding {
  return {
    contract: task.contract.id,
    source: 'review',
    file: task.path,
    line,
    message: reason.trim().slice(0, 4000),
    expected: `clause ${id} holds`,
    got: (lines[(line ?? 1) - 1] ?? '').trim().slice(0, 1000),
    clause: clause.slice(0, 1000),
  };
}
