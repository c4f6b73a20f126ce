import { codeBlock, codeSpan, messageLines, messageText } from '../model/escape-text.ts';
import { isByAgents } from './agent-texts.ts';
import { findingLine, findingsOf } from './findings.ts';
import { count, details, listWords, paragraphs } from './markdown.ts';
import type { RunView } from './run-view.ts';

const shownFindings = 10;
const shownLogLines = 60;

/** Why a run failed and what a person can do; empty where it did not. */
export function renderFailure(view: RunView): string {
  const { failure } = view.run.state;
  if (failure === undefined) return '';
  return paragraphs(renderCause(view), `**What to do:** ${nextStep(view)}`, renderLog(view));
}

function renderCause(view: RunView): string {
  const { failure } = view.run.state;
  const findings = view.report === undefined ? [] : findingsOf(view.report);
  // Missed goals stand in the table beside this.
  if (failure?.code !== 'VERDICT_FAILED' || view.report === undefined)
    return messageLines(failure?.message ?? '');
  const shown = findings.slice(0, shownFindings).map(findingLine);
  const rest = findings.length - shown.length;
  return [
    ...shown,
    ...(rest > 0 ? [`- … and ${rest} more, in \`report.json\` of the workflow run`] : []),
  ].join('\n');
}

/** One or two sentences: the next move, and whose it is. */
export function nextStep(view: RunView): string {
  const { failure, attempt } = view.run.state;
  if (failure === undefined) return '';
  const known = advice[failure.code];
  if (known !== undefined) return known(view);
  const where = attempt > 0 ? ' The branch and the draft pull request stay as they are.' : '';
  return `${messageText(failure.next)}${where}`;
}

const advice: Readonly<Record<string, (view: RunView) => string>> = {
  VERDICT_FAILED: adviseOnVerdict,
  RUNNER_FAILED: () =>
    'The engine is not to blame yet: nothing was judged. Look at the workflow run, see that the runner is well (disk, memory, bubblewrap, the weights folder), then comment `/metainfer retry`.',
  REPORT_REJECTED: () =>
    'Nothing was taken from that report. If nobody changed the workflow file or the runner, comment `/metainfer retry`; if it happens again, the runner is not to be trusted: its operator should set it up anew.',
  WORKFLOW_MISSING: () =>
    'The comment about the set-up has the exact text and the links; once that is done, comment `/metainfer retry`.',
  BRANCH_MOVED: ({ run }) =>
    `Nothing was overwritten. Delete the branch ${codeSpan(run.state.github?.branch ?? `metainfer/${run.source.number}-…`)} or rename it to keep it, then comment \`/metainfer retry\`.`,
  GITHUB_UNAVAILABLE: () =>
    'Wait for GitHub to recover (https://www.githubstatus.com), then comment `/metainfer retry`.',
  MODEL_UNAVAILABLE: ({ run }) =>
    `The engine is not to blame, and nothing written so far is lost. Once the operator of this app has set the language model right, comment \`/metainfer retry\`${run.state.github === undefined ? '' : ': it goes on from here'}.`,
  BUDGET_EXHAUSTED: adviseOnBudget,
  INTERNAL: ({ run }) =>
    `This is a fault of the bot, not of your request. Please report it to its operator with the run id ${codeSpan(run.id)}; \`/metainfer retry\` tries once more.`,
};

/** Whose limit it was decides who can do something about it. */
function adviseOnBudget({ run }: RunView): string {
  const { agents, constraints } = run.state;
  const limit = agents?.limits.spending.hardTokens;
  const asked = constraints?.generation.budget.tokens;
  const kept = run.state.github === undefined ? '' : 'What is written so far is on the branch. ';
  const raise =
    limit !== undefined && asked !== undefined && limit >= asked
      ? 'Raise `generation.budget.tokens` in the constraint file, which starts a new run'
      : 'The limit is lower than what the constraint file allows: a maintainer raises `generation.tokens_per_run` in `.github/metainfer.yml`, or the operator of this app its own, and `/metainfer generate` asks anew';
  return `${kept}${raise}. Where only the limit of the day was reached, \`/metainfer retry\` goes on tomorrow.`;
}

function adviseOnVerdict(view: RunView): string {
  const { run, report } = view;
  if (view.isRepairing === true)
    return 'Nothing now: the model that wrote it is told what the gates found, and its next attempt comes as another commit.';
  if (run.state.failure?.step === 'generate') return messageText(run.state.failure.next);
  const guilty = run.state.verification?.guilty ?? [];
  const byModel = guilty.filter((contract) => isByAgents(view, contract));
  if (byModel.length > 0) return adviseOnModel(byModel);
  if (guilty.length > 0) {
    const [first, ...others] = guilty.slice(0, 6).map((contract) => codeSpan(contract, 'text', 60));
    const more = others.length === 0 ? '' : ` (${listWords(others)} may only follow from it)`;
    return `The findings point at ${first}${more}. Its code comes from knowledge, so it is to be corrected there, by whoever maintains the realization; once the app runs with the correction, \`/metainfer generate\` makes the engine anew. Until then nothing here is merged.`;
  }
  const isRight = report?.gates.every((gate) => gate.status !== 'failed') === true;
  if (!isRight) return 'The findings name no contract; the workflow run has the full report and log.';
  const unmeasured = report.goals.filter((goal) => goal.status === 'not-measured');
  if (unmeasured.length > 0 && report.goals.every((goal) => goal.status !== 'missed')) {
    return `${count(unmeasured.length, 'goal')} could not be measured, and unmeasured is not met. See what the table says, have the runner's operator set it right (is the baseline installed there?), then comment \`/metainfer bench\`.`;
  }
  return 'The engine computes the right thing, not as fast or as small as was asked. Relax the goal in the constraint file, or ask for other hardware or number formats. Where the runner was busy, `/metainfer bench` measures once more.';
}

/** The attempts are used up: a person's word, or fresh attempts, are what is left. */
function adviseOnModel(contracts: readonly string[]): string {
  const names = listWords(contracts.slice(0, 6).map((contract) => codeSpan(contract, 'text', 60)));
  return `The findings point at ${names}, which a model wrote; its attempts are used up. Comment \`/metainfer fix <what is wrong>\` on a line of that file to tell it what to change, or \`/metainfer retry\` to judge the engine once more. A sharper contract in \`knowledge/\` helps every later run.`;
}

/** The end of the log, where nothing else tells what happened on the runner. */
function renderLog({ log, run }: RunView): string {
  if (log === undefined || run.state.failure?.code !== 'RUNNER_FAILED') return '';
  const lines = log.text.trimEnd().split('\n');
  const tail = lines.slice(-shownLogLines).map((line) => line.slice(0, 400));
  return details(`End of the log (${tail.length} lines)`, codeBlock(tail.join('\n'), 'text'));
}
