import type { CheckAnnotation, CheckConclusion, CheckDraft } from '../model/delivery.ts';
import { codeSpan, inlineText, shorten } from '../model/escape-text.ts';
import type { Report } from '../model/report.ts';
import { findingsOf, lineOf, repositoryPath } from './findings.ts';
import { benchmarkOf, renderConditions, renderGoals, renderSpeed } from './goals.ts';
import { checkTitle } from './headline.ts';
import { limitBytes } from './limit-body.ts';
import { paragraphs } from './markdown.ts';
import { renderFailure } from './render-failure.ts';
import { renderGates } from './render-gates.ts';
import { renderPlotImage } from './render-status.ts';
import { renderUnverified } from './render-unverified.ts';
import { renderWaiting } from './render-waiting.ts';
import { hasEnded, renderProgress, type Standing, standingOf, withCurrentReport } from './run-progress.ts';
import type { RunView } from './run-view.ts';

const maxAnnotations = 100;

/** The check run "metainfer" on the engine's commit. */
export function renderCheck(given: RunView): CheckDraft {
  const view = withCurrentReport(given);
  const standing = standingOf(view);
  const isOver = hasEnded(standing);
  const text = isOver && view.report !== undefined ? renderText(view) : '';
  return {
    status: isOver ? 'completed' : 'in_progress',
    ...(isOver ? { conclusion: concludeAs(view, standing) } : {}),
    title: checkTitle(view),
    summary: limitBytes(renderSummary(view), 'Cut here; the run has the rest.'),
    ...(text === '' ? {} : { text }),
    annotations: isOver ? annotate(view) : [],
    // The run goes on: pressing Retry on a commit that is overtaken would repeat nothing.
    actions: view.isRepairing === true ? [] : buttonsFor(standing),
  };
}

/**
 * Anything but a pass must not look like one. Neutral lets a required check through, so it is for an engine alone that
 * nothing speaks against: its pull request stays a draft, which cannot be merged, and the title says why.
 */
function concludeAs(view: RunView, standing: Standing): CheckConclusion {
  if (standing === 'passed') return 'success';
  if (standing === 'unverified') return 'neutral';
  if (standing === 'cancelled' || standing === 'superseded') return 'cancelled';
  const { failure, github } = view.run.state;
  if (failure?.code === 'WORKFLOW_MISSING' || failure?.code === 'NOT_PERMITTED') return 'action_required';
  if (failure?.code === 'RUNNER_FAILED' && github?.workflowConclusion === 'timed_out') return 'timed_out';
  return 'failure';
}

function buttonsFor(standing: Standing): CheckDraft['actions'] {
  if (standing === 'superseded') return [];
  if (!hasEnded(standing)) {
    return [{ label: 'Cancel', description: 'Stop this run and free the runner', identifier: 'cancel' }];
  }
  return [{ label: 'Retry', description: 'Verify this engine once more', identifier: 'retry' }];
}

function renderSummary(view: RunView): string {
  if (!hasEnded(standingOf(view))) return paragraphs(renderWaiting(view), renderProgress(view));
  return paragraphs(
    renderFailure(view),
    renderUnverified(view),
    view.report !== undefined && renderGoals(view.report),
    view.report === undefined && renderProgress(view),
    renderPlotImage(view),
  );
}

function renderText(view: RunView): string {
  const report = view.report!;
  const benchmark = benchmarkOf(report);
  const speed =
    benchmark === null ? '' : paragraphs('### Speed', renderSpeed(benchmark), renderConditions(benchmark));
  const { compiler, cpu, protection } = report.environment;
  const where = `${inlineText(cpu, 80)}, ${inlineText(compiler, 120)}${deviceInWords(report)}; sandbox: ${protection.sandbox}. Engine tree \`${report.engine.treeSha256.slice(0, 16)}\`, run seed ${report.inputs.runSeed}.`;
  return limitBytes(
    paragraphs('### Gates', renderGates(report.gates), speed, '### Where', where),
    'Cut here; the run has the rest.',
  );
}

/** Compiler and GPU of a CUDA engine, or that there was none. */
function deviceInWords({ environment: { cuda } }: Report): string {
  if (cuda === undefined) return '';
  const { compiler, device } = cuda;
  const gpu =
    device === null
      ? 'no GPU'
      : `${inlineText(device.name, 80)}, compute capability ${codeSpan(device.computeCapability, 'text', 10)}, driver ${codeSpan(device.driver, 'text', 40)}`;
  return `, ${inlineText(compiler, 120)}, ${gpu}`;
}

/** Findings at their lines, in the Files tab too. Annotations are plain text. */
function annotate(view: RunView): CheckAnnotation[] {
  if (view.report === undefined) return [];
  return findingsOf(view.report)
    .slice(0, maxAnnotations)
    .flatMap((finding) => {
      const path = repositoryPath(view, finding);
      if (path === null) return [];
      const line = lineOf(view, finding) ?? 1;
      const title = `${finding.gate}${finding.contract === null ? '' : ` · ${finding.contract}`}`;
      const message = finding.message.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, ' ');
      return [
        {
          path,
          startLine: line,
          endLine: line,
          level: 'failure',
          title: shorten(title, 200),
          message,
        } as const,
      ];
    });
}
