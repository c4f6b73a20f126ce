import { inlineText, messageLines } from '../model/escape-text.ts';
import { listCoverage } from '../model/show-verdict.ts';
import { agentsOf, renderAgentSummary } from './agent-texts.ts';
import { findingLine, findingsOf } from './findings.ts';
import { failureInWords, verdictInWords } from './headline.ts';
import { paragraphs } from './markdown.ts';
import { nextStep } from './render-failure.ts';
import { isRefusedText, movedInWords } from './render-status.ts';
import { adviseOnDevice } from './render-unverified.ts';
import { standingOf, withCurrentReport } from './run-progress.ts';
import { engineName, type RunView } from './run-view.ts';

/**
 * The one new comment at a run's end, for whoever follows the issue by mail: what came of it and what to do. Null where
 * the status comment alone says it (a file with problems, a run that a newer one replaced, one stopped by hand).
 */
export function renderTerminalComment(given: RunView): string | null {
  const view = withCurrentReport(given);
  const standing = standingOf(view);
  if (standing === 'unverified') return renderUnverifiedEnd(view);
  if (isRefusedText(view) || (standing !== 'passed' && standing !== 'failed')) return null;
  const pull = view.run.state.github?.pullNumber;
  if (standing === 'passed') {
    const verdict = view.report === undefined ? '' : `: ${inlineText(verdictInWords(view.report))}`;
    if (view.isBranchMoved === true)
      return `⚠️ **${inlineText(engineName(view))} passed**${verdict}, but its branch moved. ${movedInWords(view)}`;
    const closes = view.run.source.kind === 'issue' ? ' Merging it closes this issue.' : '';
    const head = `✅ **${inlineText(engineName(view))} passed**${verdict}.${pull === undefined ? '' : ` Please review #${pull}.`}${closes}`;
    return paragraphs(head, renderAgentSummary(view));
  }
  const findings = view.report === undefined ? [] : findingsOf(view.report);
  // The gates' order is not the order of blame.
  const guilty = view.run.state.verification?.guilty[0];
  const first = findings.find((finding) => finding.contract === guilty) ?? findings[0];
  const more = findings.length - 1;
  return paragraphs(
    `❌ **${inlineText(engineName(view))}** ${inlineText(failureInWords(view))}.${pull === undefined ? '' : ` The attempt stays a draft in #${pull}.`}`,
    first !== undefined &&
      `${findingLine(first)}${more > 0 ? `\n- … and ${more} more, at their lines in the review` : ''}`,
    view.report === undefined &&
      agentsOf(view) !== undefined &&
      messageLines(view.run.state.failure?.message ?? ''),
    `**What to do:** ${nextStep(view)}`,
    renderAgentSummary(view),
  );
}

/** The status comment has the gates; who reads this by mail wants to know what it means and what to do. */
function renderUnverifiedEnd(view: RunView): string {
  const pull = view.run.state.github?.pullNumber;
  const where = pull === undefined ? '' : ` The engine is in #${pull}, a draft.`;
  const covered = view.report === undefined ? [] : listCoverage(view.report);
  return paragraphs(
    `⚪ **${inlineText(engineName(view))}**: not run on a device, for the runner has no GPU. Nothing failed. It is not a pass either.${where}`,
    covered.map((line) => `- ${line}`).join('\n'),
    `**What to do:** ${adviseOnDevice(view)}`,
    renderAgentSummary(view),
  );
}
