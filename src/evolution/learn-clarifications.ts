import type { AttemptAccount } from '../model/agent-work.ts';
import { codeSpan, inlineText, shorten } from '../model/escape-text.ts';
import type { Learnt, Lesson } from '../model/lesson.ts';
import { raiseMinor } from './clarify-contract.ts';
import { commitText } from './commit-text.ts';
import { accountsOf } from './list-rejections.ts';

/** Once may be chance. */
const leastAttempts = 2;
const shownReasons = 3;

interface Gap {
  /** What kind of statement is missing: a clause of the contract, or none at all. */
  readonly clause: string;
  readonly attempts: readonly number[];
  readonly reasons: readonly string[];
}

/** Contracts at which attempts failed again and again for want of the same statement: what was said of it, quoted. */
export function learnClarifications(learnt: Learnt): readonly Lesson[] {
  return learnt.selection.flatMap(({ contract }) => {
    const { id, version } = contract.frontMatter;
    const gaps = findGaps(accountsOf(learnt, id));
    return gaps.map((gap): Lesson => {
      const next = raiseMinor(version);
      const attempts = gap.attempts.join(' and ');
      const quotes = gap.reasons.map((reason) => `"${inlineText(reason, 300)}"`).join('; ');
      const statement = `Left open so far (${codeSpan(gap.clause)}; run ${inlineText(learnt.run.id)}, attempts ${attempts}): ${quotes}`;
      const count = contract.evidence.length;
      return {
        kind: 'clarification',
        contract: id,
        key: `clarify ${id} ${gap.clause}`,
        title: `${id}: what ${gap.clause} leaves open`,
        says: `Attempts ${attempts} stumbled over the same gap, ${codeSpan(gap.clause)}. A person should turn the quoted words into a statement: ${quotes}. Version ${version} becomes ${next}${count === 0 ? '' : `; ${count} entries of evidence are about ${version} and must be recorded again`}.`,
        commit: commitText(
          `knowledge(${contract.folder}): say what ${gap.clause} leaves open`,
          learnt,
          undefined,
          [`Version ${version} becomes ${next}: behaviour made clear.`],
        ),
        run: learnt.run.id,
        edits: [{ kind: 'clarify', path: `contracts/${contract.folder}/contract.md`, statement }],
      };
    });
  });
}

function findGaps(accounts: readonly AttemptAccount[]): Gap[] {
  const said = accounts.flatMap((account) =>
    sayings(account).map((each) => ({ ...each, number: account.number })),
  );
  const clauses = [...new Set(said.map(({ clause }) => clause))];
  return clauses.flatMap((clause) => {
    const own = said.filter((each) => each.clause === clause);
    const attempts = [...new Set(own.map(({ number }) => number))];
    const reasons = [...new Set(own.map(({ reason }) => reason))].slice(0, shownReasons);
    return attempts.length < leastAttempts ? [] : [{ clause, attempts, reasons }];
  });
}

/** Who said of which clause that it is missing or not to be understood. Gates that quote a clause say no such thing. */
function sayings({
  unstated,
  findings,
}: AttemptAccount): { readonly clause: string; readonly reason: string }[] {
  const objections = findings.flatMap(({ source, clause, expected, message }) => {
    if (source === 'answer' || source === 'person') return [];
    const named = source === 'review' ? /^clause (\S+) holds$/.exec(expected ?? '')?.[1] : undefined;
    if (named !== undefined) return [{ clause: named, reason: shorten(message, 300) }];
    return clause === null ? [{ clause: `no clause (${source})`, reason: shorten(message, 300) }] : [];
  });
  return [...unstated, ...objections];
}
