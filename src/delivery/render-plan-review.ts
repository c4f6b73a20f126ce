import type { ChangedFile, ReviewDraft } from '../model/delivery.ts';
import { codeBlock, codeSpan, inlineText, messageText } from '../model/escape-text.ts';
import { limitBody } from './limit-body.ts';
import { count, details, paragraphs } from './markdown.ts';
import { type Note, placeComments } from './place-comments.ts';
import { codeFrame, describeProblem, renderNotCovered } from './render-problems.ts';
import { renderApprovalNeeded, renderRunnerNeed } from './render-waiting.ts';
import { engineName, type RunView } from './run-view.ts';
import { suggestLine } from './suggest-line.ts';

const limits = { inline: 30, fileLevel: 1 };

interface ProblemNote extends Note {
  readonly summary: string;
}

/** How a plan goes on: by itself, after somebody's word, or (from a fork) not at all. */
export type PlanSequel = 'generates' | 'waits-for-approval' | 'plan-only';

/** The review on a pull request that adds or changes a constraint file: its problems at their lines, or its plan. */
export function renderPlanReview(
  view: RunView,
  files: readonly ChangedFile[],
  sequel: PlanSequel = sequelOf(view),
): ReviewDraft {
  const path = view.run.source.path ?? view.run.state.input.fileName;
  const placed = placeComments(notesOf(view, path), files, limits);
  const errors = view.problems?.problems.filter((problem) => problem.severity === 'error').length ?? 0;
  const isRefused = errors > 0 || view.run.state.failure !== undefined;
  const body = paragraphs(
    isRefused ? renderRefusedHead(view, path, errors) : renderPlanHead(view, path, sequel),
    placed.rest.map((note) => note.summary).join('\n\n'),
    view.problems !== undefined && renderNotCovered(view.problems.notCovered),
    view.planText !== undefined &&
      details(
        'Plan: what fills each part, memory, physical limit',
        view.planText.replace(/^## Plan: .*\n/, '').trim(),
      ),
  );
  return {
    body: limitBody(body, 'Cut here; the run has the rest.'),
    comments: placed.inline,
    fileComments: placed.fileLevel,
  };
}

function renderRefusedHead(view: RunView, path: string, errors: number): string {
  const next = 'Push a corrected file to this pull request: the bot reads it again on its own.';
  if (errors > 0) return `**${count(errors, 'problem')} in ${codeSpan(path)}**, nothing was started. ${next}`;
  const { failure } = view.run.state;
  const isMissing = failure?.code === 'NOT_COVERED';
  const why = isMissing ? 'asks for something that knowledge does not cover yet' : 'cannot be used';
  return paragraphs(
    `**${codeSpan(path)} ${why}**, nothing was started.`,
    !isMissing && messageText(failure?.message ?? ''),
    isMissing ? 'Ask for something that is covered, or add what is missing to `knowledge/`.' : next,
  );
}

function sequelOf({ run }: RunView): PlanSequel {
  return run.state.waitingFor === 'approval' ? 'waits-for-approval' : 'generates';
}

function renderPlanHead(view: RunView, path: string, sequel: PlanSequel): string {
  const name = inlineText(engineName(view));
  const sequels: Readonly<Record<PlanSequel, string>> = {
    generates:
      'The engine goes onto a branch of its own, with a pull request into the branch of this one; the status comment here follows it.',
    'waits-for-approval':
      view.autoApproveTokens === undefined
        ? 'Somebody with write access can have the engine made: comment `/metainfer generate`.'
        : renderApprovalNeeded(view),
    'plan-only':
      'This pull request comes from a fork, so it gets a plan and nothing more. Once it is merged, or pushed to a branch of this repository by somebody with write access, the engine can be made.',
  };
  return paragraphs(
    `**Plan for ${name}** (${codeSpan(path)}). ${sequels[sequel]}`,
    sequel !== 'plan-only' && renderRunnerNeed(view),
  );
}

function notesOf(view: RunView, path: string): ProblemNote[] {
  const text = view.run.state.input.text;
  return (view.problems?.problems ?? []).map((problem) => {
    const what = describeProblem(problem);
    const fixed = suggestLine(text, problem);
    const frame = problem.line === undefined ? '' : codeFrame(text, problem.line, problem.column);
    const place = problem.line === undefined ? '' : `**Line ${problem.line}:** `;
    return {
      path,
      line: problem.line ?? null,
      body: paragraphs(what, fixed !== undefined && codeBlock(fixed, 'suggestion')),
      summary: paragraphs(`${place}${what}`, frame),
    };
  });
}
