import type { ChangedFile, ReviewDraft } from '../model/delivery.ts';
import { codeSpan, inlineText } from '../model/escape-text.ts';
import { isByAgents, renderAgentSummary } from './agent-texts.ts';
import { findingLine, findingsOf, findSlowPlace, lineOf, renderFinding, repositoryPath } from './findings.ts';
import { renderGoals } from './goals.ts';
import { headline } from './headline.ts';
import { limitBody } from './limit-body.ts';
import { details, listWords, paragraphs } from './markdown.ts';
import { type Note, placeComments } from './place-comments.ts';
import { filesByModel } from './provenance-summary.ts';
import { nextStep } from './render-failure.ts';
import { renderGates } from './render-gates.ts';
import { movedInWords, renderPlotImage } from './render-status.ts';
import { renderUnverified } from './render-unverified.ts';
import { standingOf, withCurrentReport } from './run-progress.ts';
import type { RunView } from './run-view.ts';

const limits = { inline: 20, fileLevel: 3 };
const shownInBody = 50;

interface FindingNote extends Note {
  /** For the review's own text, where the note finds no place. */
  readonly summary: string;
}

/** The one review of an attempt on the engine's pull request: every finding, at its line where the diff shows it. */
export function renderReview(given: RunView, files: readonly ChangedFile[]): ReviewDraft {
  const view = withCurrentReport(given);
  const placed = placeComments(notesOf(view), files, limits);
  const inPlace = placed.inline.length + placed.fileLevel.length;
  const shown = placed.rest.slice(0, shownInBody).map((note) => note.summary);
  const more = placed.rest.length - shown.length;
  const rest = [
    ...shown,
    ...(more > 0 ? [`- … and ${more} more, in \`report.json\` of the workflow run`] : []),
  ];
  const body = paragraphs(
    `**${inlineText(headline(view))}**`,
    renderOpening(view, inPlace),
    renderUnverified(view),
    standingOf(view) === 'unverified' && view.report !== undefined && renderGates(view.report.gates),
    rest.length > 0 &&
      paragraphs(inPlace > 0 ? 'Findings without a line in this diff:' : 'Findings:', rest.join('\n')),
    view.report !== undefined && renderGoals(view.report),
    renderPlotImage(view),
    renderAgentSummary(view),
    standingOf(view) === 'passed' &&
      (view.isBranchMoved === true ? movedInWords(view) : renderReviewHints(view)),
  );
  return {
    body: limitBody(body, 'Cut here; the check has the rest.'),
    comments: placed.inline,
    fileComments: placed.fileLevel,
  };
}

function notesOf(view: RunView): FindingNote[] {
  if (view.report === undefined) return [];
  const notes: FindingNote[] = findingsOf(view.report).map((finding) => ({
    path: repositoryPath(view, finding),
    line: lineOf(view, finding),
    body: renderFinding(finding, isByAgents(view, finding.contract)),
    summary: findingLine(finding),
  }));
  const slow = findSlowPlace(view);
  const path = slow === undefined ? null : repositoryPath(view, slow);
  if (slow !== undefined && path !== null) {
    notes.push({
      path,
      line: slow.line,
      body: slow.body,
      summary: `- ${slow.body.replace(/\s*\n\s*/g, ' ')}`,
    });
  }
  return notes;
}

function renderOpening(view: RunView, inPlace: number): string {
  if (standingOf(view) === 'passed') return '';
  const where = inPlace === 0 ? '' : 'The findings are at their lines below. ';
  const next = nextStep(view);
  return `${where}${next === '' ? '' : `**What to do:** ${next}`}`;
}

/** The description of the pull request has the whole list. */
function writtenInWords(files: readonly string[]): string {
  if (files.length === 0) return 'what `provenance.yaml` says it did';
  const shown = files.slice(0, 6).map((file) => codeSpan(file));
  const more = files.length - shown.length;
  return more === 0
    ? listWords(shown)
    : `${shown.join(', ')} and ${more} more files (all are listed in the description)`;
}

/** A verdict says that it computes the right thing fast enough; these are left to a person. */
function renderReviewHints(view: RunView): string {
  const { plan, engine } = view;
  const isComposed = plan?.cost.modelTokens === 0;
  return details(
    'For the reviewer',
    [
      isComposed
        ? '- Every line comes from realizations that were verified before; no model wrote any of it. `provenance.yaml` has the hashes.'
        : `- A model wrote ${writtenInWords(filesByModel(engine))}: the gates hold it to its contracts, and it deserves your eyes all the same.`,
      '- The verdict is bound to the bytes of the engine folder without its README and `report.json`: a later commit to it is a new engine.',
      '- `report.json` names seed, compiler and machine, and the command that repeats it.',
    ].join('\n'),
  );
}
