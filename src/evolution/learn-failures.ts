import { codeSpan, inlineText, messageText } from '../model/escape-text.ts';
import type { FailureMode } from '../model/failure-mode.ts';
import type { KnowledgeEdit, Learnt, Lesson } from '../model/lesson.ts';
import type { SabotageEntry, SabotageFile } from '../model/sabotage.ts';
import { firstMismatch } from '../model/target.ts';
import { commitText } from './commit-text.ts';
import { caseOf, describeFailure, referenceTo, renderFailurePage, slugOf } from './failure-page.ts';
import { knownSabotage, sabotagePath } from './known-sabotage.ts';
import type { Placed } from './learn-realizations.ts';
import { listRejections, type Rejection } from './list-rejections.ts';
import { matchFailureMode } from './match-failure-mode.ts';
import { codeOf } from './realization-file.ts';
import { type Reversion, revertEdits } from './revert-edits.ts';

type Mode = Pick<FailureMode, 'slug' | 'frontMatter'>;

/** Up to 48 the numbers are those of the field survey. */
const lastSurveyed = 48;

/** Texts that cost a repair: known failure modes get a reference, new ones an entry and a mutation that makes the mistake again. */
export function learnFailures(
  learnt: Learnt,
  placed: ReadonlyMap<string, Placed>,
): { readonly lessons: readonly Lesson[]; readonly notes: readonly string[] } {
  const library: Mode[] = [...learnt.catalog.failureModes];
  const known = knownSabotage(learnt.knowledge);
  const mutations = [...(known?.mutations ?? [])];
  const lessons: Lesson[] = [];
  const notes: string[] = [];
  for (const rejection of listRejections(learnt)) {
    const at = placed.get(rejection.contract);
    const back =
      at && revertEdits(at.realization.text, withCode(at.realization.text, rejection.rejected.text));
    const match = recognise(rejection, back, library, mutations);
    if (match !== undefined) {
      lessons.push(knownLesson(learnt, rejection, match));
      continue;
    }
    const made =
      at === undefined || back === undefined
        ? obstacleOf(rejection, at)
        : newLesson(learnt, { rejection, at, back, library, known });
    if (typeof made === 'string') notes.push(made);
    else {
      lessons.push(made.lesson);
      library.push(made.mode);
      mutations.push(made.mutation);
    }
  }
  return { lessons, notes };
}

/** The rejected code under the comment of the accepted one: only what is compiled is compared. */
function withCode(text: string, other: string): string {
  return text.slice(0, text.length - codeOf(text).length) + codeOf(other);
}

function obstacleOf({ contract, attempt }: Rejection, at: Placed | undefined): string {
  return at === undefined
    ? `${contract}, attempt ${attempt}: a new mistake, but no text of this run is in knowledge that a mutation could break`
    : `${contract}, attempt ${attempt}: the rejected text differs too much from the accepted one to name the mistake`;
}

interface Recognised {
  readonly mode: Mode;
  readonly because: string;
}

/** The same edits are the same mistake; else words decide. */
function recognise(
  rejection: Rejection,
  back: Reversion | undefined,
  library: readonly Mode[],
  mutations: readonly SabotageEntry[],
): Recognised | undefined {
  const { contract, findings } = rejection;
  const wanted = JSON.stringify(back?.edits);
  const twin = mutations.find(
    (entry) => entry.contract === contract && JSON.stringify(entry.edits) === wanted,
  );
  const mode = library.find(({ slug }) => slug === twin?.id);
  if (twin !== undefined && mode !== undefined)
    return { mode, because: `the mutation ${twin.id} is the same` };
  const changed = (back?.places ?? []).map(({ right, wrong }) => `${right} ${wrong}`);
  const said = findings.map(({ message, clause }) => `${message} ${clause ?? ''}`);
  return matchFailureMode(
    {
      ...{ contract, gate: findings[0]!.source, caseId: caseOf(rejection) },
      text: [...said, ...changed].join(' '),
    },
    library,
  );
}

function knownLesson(learnt: Learnt, rejection: Rejection, { mode, because }: Recognised): Lesson {
  const { contract } = rejection;
  const reference = referenceTo(rejection, learnt.run);
  const { id, title } = mode.frontMatter;
  return {
    kind: 'known-failure-mode',
    contract,
    key: `reference ${mode.slug} ${reference}`,
    title: `${contract}: ${id} again`,
    says: `An agent made a known mistake, ${codeSpan(mode.slug)} (${inlineText(title)}); recognised by ${inlineText(because)}. One reference is added.`,
    commit: commitText(`knowledge(failure-modes): ${id} was met again in ${contract}`, learnt, undefined, [
      `Recognised by ${because}.`,
    ]),
    run: learnt.run.id,
    edits: [{ kind: 'add-reference', path: `failure-modes/${mode.slug}.md`, reference }],
  };
}

interface NewFailure {
  readonly rejection: Rejection;
  readonly at: Placed;
  readonly back: Reversion;
  readonly library: readonly Mode[];
  readonly known: SabotageFile | undefined;
}

function newLesson(
  learnt: Learnt,
  { rejection, at, back, library, known }: NewFailure,
): { readonly lesson: Lesson; readonly mode: Mode; readonly mutation: SabotageEntry } | string {
  const { contract, attempt, findings } = rejection;
  const stage = known === undefined ? undefined : findStage(learnt, at, known);
  if (stage === undefined)
    return `${contract}, attempt ${attempt}: no small model of sabotage.yaml takes ${at.realization.file}, so no mutation could show that a gate sees the mistake`;
  const id = nextId(library);
  const slug = slugOf(id, rejection);
  const front = describeFailure(id, rejection, back.places, referenceTo(rejection, learnt.run));
  const mutation: SabotageEntry = {
    ...{ id: slug, says: front.title, contract, realization: at.realization.file, edits: [...back.edits] },
    ...{ checkpoint: stage.checkpoint, also: [], weights: stage.weights },
  };
  const page = renderFailurePage(front, rejection, back.places, slug);
  const lesson: Lesson = {
    kind: 'failure-mode',
    contract,
    key: `failure ${contract} ${JSON.stringify(back.edits)}`,
    title: `${contract}: a mistake that ${findings[0]!.source} sees, ${id}`,
    says: `${codeSpan(slug)}: ${messageText(front.cause)} The gate ${codeSpan(front.gates.join(', '))} rejected it in attempt ${attempt}; no known failure mode of this contract and gate has its words. A mutation makes it again.`,
    commit: commitText(`knowledge(failure-modes): add ${slug}`, learnt, undefined, [
      `Symptom: ${front.symptom}`,
      `Seen by: ${front.gates.join(', ')}; attempt ${attempt}, mended in attempt ${rejection.mendedBy}`,
    ]),
    run: learnt.run.id,
    edits: [
      { kind: 'create', path: `failure-modes/${slug}.md`, text: page },
      ...stage.edits,
      { kind: 'add-mutation', path: sabotagePath, entry: mutation },
    ],
  };
  return { lesson, mode: { slug, frontMatter: front }, mutation };
}

function nextId(library: readonly Mode[]): string {
  const numbers = library.map(({ frontMatter }) => Number(frontMatter.id.slice(3)));
  return `fm-${Math.max(lastSurveyed, ...numbers) + 1}`;
}

interface Stage {
  readonly checkpoint: string;
  readonly weights: SabotageEntry['weights'];
  readonly edits: readonly KnowledgeEdit[];
}

/** A small model for which the planner takes the realization: one of those there, or the run's own where it is small. */
function findStage(
  learnt: Learnt,
  { contract, realization, evidence }: Placed,
  known: SabotageFile,
): Stage | undefined {
  const others = contract.realizations.filter(({ file }) => file !== realization.file);
  const with_ = {
    ...contract,
    realizations: [...others, { ...realization, requires: [], replaces: [], fuses: [] }],
    evidence: [...contract.evidence, evidence],
  };
  const takes = (target: Learnt['target']): boolean =>
    firstMismatch(realization.applies, target) === undefined &&
    learnt.choose(with_, target) === realization.file;
  const there = learnt.checkpoints.find(({ target }) => takes(target));
  if (there !== undefined) return { ...there, edits: [] };
  return takes(learnt.target) ? ownStage(learnt, known) : undefined;
}

const smallest = { hidden: 512, layers: 6, vocabulary: 4096 } as const;

function ownStage({ constraints, facts, modelConfig, run }: Learnt, known: SabotageFile): Stage | undefined {
  const { weights } = constraints.numerics;
  const isSmall =
    facts.hiddenSize <= smallest.hidden &&
    facts.numLayers <= smallest.layers &&
    facts.vocabSize <= smallest.vocabulary;
  if (!isSmall || !('config' in constraints.model)) return undefined;
  if (weights !== 'bf16' && weights !== 'f32' && weights !== 'f16') return undefined;
  const name = `learnt-${run.engine.replace(/^.*\//, '')}`;
  if (Object.hasOwn(known.checkpoints, name)) return undefined;
  return {
    ...{ checkpoint: name, weights },
    edits: [{ kind: 'add-checkpoint', path: sabotagePath, name, config: { ...modelConfig } }],
  };
}
