import type { AgentFile, OptimizationAttempt } from '../model/agent-work.ts';
import type { Contract, Evidence, Realization } from '../model/contract.ts';
import { codeSpan, inlineText } from '../model/escape-text.ts';
import { type KeptReport, keepReport, makeEvidence } from '../model/evidence-entry.ts';
import type { KnowledgeEdit, Learnt, Lesson } from '../model/lesson.ts';
import type { Report } from '../model/report.ts';
import { commitText } from './commit-text.ts';
import { isDominated } from './is-dominated.ts';
import { knownSabotage } from './known-sabotage.ts';
import {
  findSameCode,
  holdsHiddenText,
  makeRealizationFile,
  type RealizationFile,
} from './realization-file.ts';
import { showPredicate, widestPredicate } from './widest-predicate.ts';

/** What knowledge holds, or will hold, of the code that an agent wrote for a contract. */
export interface Placed {
  readonly contract: Contract;
  readonly realization: Pick<Realization, 'file' | 'text' | 'sha256' | 'applies'>;
  readonly evidence: Evidence;
}

export interface LearntRealizations {
  readonly lessons: readonly Lesson[];
  /** By contract. */
  readonly placed: ReadonlyMap<string, Placed>;
  readonly notes: readonly string[];
}

/** Code of agents that passed every gate of a passed verdict becomes realizations, or evidence for those that it equals. */
export function learnRealizations(learnt: Learnt): LearntRealizations {
  const { report, files } = learnt;
  const obstacle = obstacleOf(learnt);
  if (report === null || obstacle !== undefined) {
    const notes = files.size === 0 || obstacle === undefined ? [] : [obstacle];
    return { lessons: [], placed: new Map(), notes };
  }
  const kept = keepReport(report);
  const lessons: Lesson[] = [];
  const placed = new Map<string, Placed>();
  const notes: string[] = [];
  for (const { contract } of learnt.selection) {
    const id = contract.frontMatter.id;
    const source = files.get(id);
    if (source === undefined) continue;
    const fault = faultOf(learnt, contract, source);
    if (fault !== undefined) {
      notes.push(`${id}: ${fault}; it is not taken over`);
      continue;
    }
    const known = findSameCode(contract, source.text);
    const made = known ?? makeFile(learnt, contract, source, kept);
    const evidence = evidenceOf(learnt, contract, made, { report, kept });
    placed.set(id, { contract, realization: made, evidence });
    const edits = [keepEdit(kept), evidenceEdit(contract, evidence)];
    lessons.push(
      known === undefined
        ? newLesson(learnt, { contract, source, made: made as RealizationFile, evidence, edits })
        : evidenceLesson(learnt, contract, evidence, edits),
    );
  }
  return { lessons, placed, notes };
}

/** Why nothing that agents wrote in this run may become knowledge. */
function obstacleOf({ report, constraints }: Learnt): string | undefined {
  if (report === null) return 'the engine was not verified: what agents wrote for it is not taken over';
  if (constraints.generation.mode === 'source-reference')
    return 'agents saw source files of others (source-reference): what they wrote is not taken over';
  const open = report.gates.filter(({ status }) => status !== 'passed' && status !== 'not-applicable');
  if (report.verdict === 'passed' && open.length === 0) return undefined;
  const gates = open.map(({ gate, status }) => `${gate} ${status}`).join(', ');
  return `the verdict is ${report.verdict}${gates === '' ? '' : ` (${gates})`}: what agents wrote is not taken over`;
}

/** What speaks against one file, though the engine passed. */
function faultOf({ provenance }: Learnt, contract: Contract, { path, text }: AgentFile): string | undefined {
  if (holdsHiddenText(text)) return 'its text holds characters that cannot be seen';
  const origin = provenance.find((file) => file.path === path)?.origin;
  if (origin?.kind !== 'agent') return `the engine's provenance does not say that an agent wrote ${path}`;
  const isSame = origin.contractSha256 === contract.sha256 && origin.gateSha256 === contract.gateSha256;
  return isSame ? undefined : 'contract or gate changed since it was judged';
}

function makeFile(learnt: Learnt, contract: Contract, source: AgentFile, kept: KeptReport): RealizationFile {
  return makeRealizationFile(contract, source, {
    catalog: learnt.catalog,
    applies: widestPredicate(contract.frontMatter.applies_when, [
      learnt.target,
      ...learnt.confirmed.filter((target) => target !== learnt.target),
    ]),
    target: learnt.target,
    run: learnt.run.id,
    reportSha256: kept.sha256,
    taken: new Set(
      [...learnt.knowledge.keys()].flatMap((path) => {
        const [, folder, file] = /^contracts\/([^/]+)\/realizations\/(.+)$/.exec(path) ?? [];
        return folder === contract.folder && file !== undefined ? [file] : [];
      }),
    ),
  });
}

function keptOptimizations({ papers }: Learnt, contract: string): readonly OptimizationAttempt[] {
  return papers.optimizations.filter(
    (attempt) => attempt.contract === contract && attempt.outcome === 'kept',
  );
}

function evidenceOf(
  learnt: Learnt,
  contract: Contract,
  made: Pick<Realization, 'file' | 'sha256'>,
  { report, kept }: { readonly report: Report; readonly kept: KeptReport },
): Evidence {
  const { constraints } = learnt;
  const entry = makeEvidence(contract, made, { constraints, report, reportSha256: kept.sha256 });
  const gains = keptOptimizations(learnt, contract.frontMatter.id).filter(({ ratio }) => ratio !== null);
  const spent = report.generation?.byContract[contract.frontMatter.id];
  const isReal = report.generation?.isRealModel === true;
  return {
    ...entry,
    figures: {
      ...entry.figures,
      ...(gains.length === 0
        ? {}
        : {
            optimizer_ratio: round(gains.reduce((product, { ratio }) => product * ratio!, 1)),
            optimizer_spread: round(gains.reduce((sum, { spread }) => sum + (spread ?? 0), 0)),
          }),
      ...(spent === undefined || !isReal
        ? {}
        : { agent_prompt_tokens: spent.promptTokens, agent_output_tokens: spent.completionTokens }),
    },
  };
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}

export function keepEdit(kept: KeptReport): KnowledgeEdit {
  return { kind: 'create', path: kept.path, text: kept.text };
}

function evidenceEdit({ folder }: Contract, entry: Evidence): KnowledgeEdit {
  return { kind: 'add-evidence', path: `contracts/${folder}/evidence.yaml`, entry };
}

function evidenceLesson(
  learnt: Learnt,
  contract: Contract,
  evidence: Evidence,
  edits: readonly KnowledgeEdit[],
): Lesson {
  const { id } = contract.frontMatter;
  const title = `${id}: one more verified run of ${evidence.realization}`;
  return {
    ...{ kind: 'more-evidence', contract: id, title, run: learnt.run.id },
    key: `evidence ${id} ${evidence.realization} ${evidence.report}`,
    says: `An agent wrote the code of ${codeSpan(evidence.realization)} again, so nothing but a verified run is added. ${describeFigures(evidence)}`,
    commit: commitText(
      `knowledge(${contract.folder}): record a run of ${evidence.realization}`,
      learnt,
      evidence,
    ),
    edits: [...edits],
  };
}

interface Made {
  readonly contract: Contract;
  readonly source: AgentFile;
  readonly made: RealizationFile;
  readonly evidence: Evidence;
  readonly edits: readonly KnowledgeEdit[];
}

function newLesson(learnt: Learnt, { contract, source, made, evidence, edits }: Made): Lesson {
  const { id } = contract.frontMatter;
  const kept = keptOptimizations(learnt, id);
  const isBetter = kept.length > 0;
  const older = isBetter ? olderOf(learnt, contract, made, evidence) : { edits: [], says: '' };
  const what = isBetter ? 'a faster realization' : 'a realization';
  return {
    kind: isBetter ? 'better-realization' : 'new-realization',
    contract: id,
    key: `realization ${id} ${showPredicate(made.applies)} ${made.sha256}`,
    title: `${id}: ${what}, ${made.file}`,
    says: [
      `${codeSpan(made.file)}, written by ${codeSpan(source.origin.model)} from the contract and green at every gate.`,
      `It applies to ${codeSpan(showPredicate(made.applies), 'text', 900)}: every pair of these values was confirmed (${learnt.confirmed.length === 1 ? 'one target' : `${learnt.confirmed.length} targets`}).`,
      describeFigures(evidence),
      older.says,
    ]
      .filter((part) => part !== '')
      .join(' '),
    commit: commitText(`knowledge(${contract.folder}): add ${what} (${made.file})`, learnt, evidence),
    run: learnt.run.id,
    edits: [{ kind: 'create', path: made.path, text: made.text }, ...edits, ...older.edits],
  };
}

/** What becomes of the realization that the faster one was measured beside. */
function olderOf(
  { choose, target, knowledge }: Learnt,
  contract: Contract,
  made: RealizationFile,
  evidence: Evidence,
): { readonly edits: readonly KnowledgeEdit[]; readonly says: string } {
  const older = contract.realizations.find(({ file }) => file === choose(contract, target));
  if (older === undefined) return { edits: [], says: '' };
  const newer = { ...made, replaces: [], fuses: [] };
  const { isDominated: goes, reason } = isDominated(older, newer, {
    evidence: [...contract.evidence, evidence],
    appliesWhen: contract.frontMatter.applies_when,
    measuredBeside: older.file,
  });
  const name = codeSpan(older.file);
  if (!goes) return { edits: [], says: `${name} stays selectable: ${inlineText(reason)}.` };
  const folder = `contracts/${contract.folder}`;
  const isAimedAt = knownSabotage(knowledge)?.mutations.some(
    (entry) => entry.contract === contract.frontMatter.id && entry.realization === older.file,
  );
  // Proofs that gates can fail are worth more than a file less.
  if (isAimedAt === true)
    return {
      edits: [],
      says: `${name} is dominated (${inlineText(reason)}) and stays for now: mutations of sabotage.yaml are about its text.`,
    };
  return {
    edits: [
      { kind: 'delete', path: `${folder}/realizations/${older.file}` },
      { kind: 'drop-evidence', path: `${folder}/evidence.yaml`, realization: older.file },
    ],
    says: `**${name} is deleted**: ${inlineText(reason)}.`,
  };
}

function describeFigures({ figures, device }: Evidence): string {
  const { decode_tokens_per_second: decode, prefill_tokens_per_second: prefill } = figures;
  const { optimizer_ratio: ratio, optimizer_spread: spread } = figures;
  const parts = [
    ...(decode === undefined ? [] : [`decoding ${decode} tokens/s`]),
    ...(prefill === undefined ? [] : [`prefill ${prefill} tokens/s`]),
    ...(ratio === undefined ? [] : [`${ratio} ± ${spread ?? 0} times the engine before, side by side`]),
  ];
  const where = `${inlineText(device.cpu)}, ${device.threads} threads`;
  return parts.length === 0 ? `Verified on ${where}.` : `Measured on ${where}: ${parts.join(', ')}.`;
}
