import { listedClauses } from './prompt-parts.ts';
import type { Question } from './question.ts';
import type { Replies } from './reply.ts';

export interface ClauseVerdict {
  readonly verdict: 'met' | 'violated' | 'unstated';
  readonly line?: number;
  readonly reason?: string;
}

/** The reviewer's answer: the same verdict on every clause that the prompt lists. */
export function reviewAll(verdict: ClauseVerdict['verdict']): Replies {
  return review(() => ({ verdict }));
}

/** The reviewer's answer, clause by clause. */
export function review(judge: (clause: string, question: Question) => ClauseVerdict): Replies {
  return (question) => {
    const clauses = listedClauses(question).map((clause) => {
      const { verdict, line, reason } = judge(clause, question);
      return { clause, verdict, line: line ?? null, reason: reason ?? '' };
    });
    return { kind: 'json', value: { clauses } };
  };
}
