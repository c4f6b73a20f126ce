import type { FailureModeFrontMatter } from '../model/failure-mode.ts';

/** What is known of one failure. */
export interface FailureSigns {
  readonly contract: string;
  /** `unit`, `logits`, … */
  readonly gate: string;
  /** Of the contract's gate.yaml; undefined where no case is named. */
  readonly caseId: string | undefined;
  /** Finding, clause and the lines that were changed. */
  readonly text: string;
}

export interface FailureMatch<Mode> {
  readonly mode: Mode;
  /** `contract mlp.gated, gate mlp.gated#basic, and the words gate, silu`. */
  readonly because: string;
}

/** Share of a known mode's telling words that must come up again, and how many at least. */
const leastShare = 0.4;
const leastWords = 4;

/** Words that every finding has. */
const common: ReadonlySet<string> = new Set(
  'case basic small output limit nmse needs stands clause with where that this from have instead what does into than them then they were will would when which after before float32 float64 expected reference largest error gives wrong text accepted rejected const float int64 return'.split(
    ' ',
  ),
);

/**
 * The failure mode that this is: one of the same contract that the same gate sees, and whose title, symptom and cause
 * share most words with it. Undefined where none shares enough. The same signs and library always give the same answer.
 */
export function matchFailureMode<Mode extends { readonly frontMatter: FailureModeFrontMatter }>(
  signs: FailureSigns,
  library: readonly Mode[],
): FailureMatch<Mode> | undefined {
  const words = tellingWords(signs.text, signs);
  const scored = library.flatMap((mode) => {
    const { contracts, title, symptom, cause } = mode.frontMatter;
    const gate = sharedGate(signs, mode.frontMatter.gates);
    if (!contracts.includes(signs.contract) || gate === undefined) return [];
    const own = tellingWords(`${title} ${symptom} ${cause}`, signs);
    const shared = [...own].filter((word) => words.has(word));
    const share = shared.length / Math.max(1, own.size);
    if (own.size < 2 || share < leastShare || shared.length < Math.min(leastWords, own.size)) return [];
    const shown = shared.sort().slice(0, 8).join(', ');
    return [{ mode, share, because: `contract ${signs.contract}, gate ${gate}, and the words ${shown}` }];
  });
  return scored.sort(
    (a, b) => b.share - a.share || (a.mode.frontMatter.id < b.mode.frontMatter.id ? -1 : 1),
  )[0];
}

/** The gate of the mode that saw this failure as well: the gate itself, or the case, or another case of the contract. */
function sharedGate({ contract, gate, caseId }: FailureSigns, gates: readonly string[]): string | undefined {
  const exact = gates.find((name) => name === gate || name === `${contract}#${caseId}`);
  return exact ?? (gate === 'unit' ? gates.find((name) => name.startsWith(`${contract}#`)) : undefined);
}

/** Without those that every failure of this contract and this case would have. */
function tellingWords(text: string, { contract, caseId }: FailureSigns): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[a-z][a-z0-9_]{3,}/g) ?? [];
  const names = new Set([...contract.split(/[.-]/), caseId ?? '']);
  return new Set(words.filter((word) => !common.has(word) && !names.has(word)));
}
