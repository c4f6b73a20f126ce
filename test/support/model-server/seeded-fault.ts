import type { RepairFinding } from '../../../src/model/agent-work.ts';
import type { SabotageEntry } from '../../../src/model/sabotage.ts';
import { type ContractReply, fileReply, mutatedText } from './knowledge-replies.ts';
import { shownFindings } from './prompt-parts.ts';

/** One finding that a prompt showed, and what it lacks. */
export interface ShownFinding {
  readonly finding: RepairFinding;
  /** Empty where it is sufficient. */
  readonly lacks: readonly ('contract' | 'gate' | 'place' | 'expected and got' | 'clause')[];
}

/** A mistake of a model and the record of what the program told it. */
export interface SeededFault {
  readonly entry: SabotageEntry;
  /** For `contracts` of `repliesFromKnowledge`. */
  readonly reply: ContractReply;
  /** One for each prompt about the contract, in order. */
  readonly prompts: { readonly shown: readonly ShownFinding[]; readonly answer: 'faulty' | 'right' }[];
}

const notGates = ['answer', 'review', 'person'];
/** Where a gate without line numbers saw it: the case of a unit gate, a stage of the trace, a place in the results. */
const namedPlace =
  /\b(?:case|stage|layer|tensor|position|index|element|step|slot|token|chunk|id|key) [\w.-]*[\d._-][\w.-]*|\bcase \w+|\[\d+(?:, \d+)*\]/;

/**
 * A model that makes the mistake and mends it only once a finding says where it is: in the contract's own prompt, with
 * the gate, and with a line or a case. From then on it is right.
 */
export function faultyFirst(entry: SabotageEntry): SeededFault {
  const prompts: SeededFault['prompts'] = [];
  return {
    entry,
    prompts,
    reply: (question, right, selected) => {
      const shown = shownFindings(question).map((finding) => assess(finding, entry));
      const isTold = shown.some(({ lacks }) => !lacks.some((part) => /contract|gate|place/.test(part)));
      const isRight = isTold || prompts.at(-1)?.answer === 'right';
      prompts.push({ shown, answer: isRight ? 'right' : 'faulty' });
      return fileReply(selected, isRight ? right : mutatedText(selected, entry));
    },
  };
}

function assess(finding: RepairFinding, entry: SabotageEntry): ShownFinding {
  const { contract, source, file, line, message, expected, got, clause } = finding;
  const hasPlace =
    (file !== null && line !== null) || namedPlace.test(`${message} ${expected ?? ''} ${got ?? ''}`);
  // A compiler says both at once.
  const isCompiler = source === 'build' && line !== null;
  const parts = {
    contract: contract === entry.contract,
    gate: source !== '' && !notGates.includes(source),
    place: hasPlace,
    'expected and got': isCompiler || (expected !== null && got !== null),
    clause: clause !== null && clause !== '',
  };
  const names = Object.keys(parts) as (keyof typeof parts)[];
  return { finding, lacks: names.filter((name) => !parts[name]) };
}

/** Mistake, attempts, gates that saw it, and how many of the findings shown were sufficient: as a Markdown table. */
export function renderFaultTable(faults: readonly SeededFault[]): string {
  const rows = faults.map(({ entry, prompts }) => {
    const shown = prompts.flatMap((prompt) => prompt.shown);
    const gates = [...new Set(shown.map(({ finding }) => finding.source))].join(', ');
    const lacking = [...new Set(shown.flatMap(({ lacks }) => lacks))].join(', ');
    const sufficient = shown.filter(({ lacks }) => lacks.length === 0).length;
    const cells = [entry.id, entry.contract, prompts.length, gates, `${sufficient}/${shown.length}`, lacking];
    return `| ${cells.join(' | ')} |`;
  });
  const head = '| mistake | contract | attempts | told by | sufficient findings | lacking |';
  return [head, '| --- | --- | --- | --- | --- | --- |', ...rows].join('\n');
}
