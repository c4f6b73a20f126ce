import { codeSpan } from '../model/escape-text.ts';
import { listCoverage } from '../model/show-verdict.ts';
import { listWords, paragraphs } from './markdown.ts';
import { standingOf } from './run-progress.ts';
import type { RunView } from './run-view.ts';

/** What a verdict without a device is worth: who judged, what was and was not checked, what to do. Empty elsewhere. */
export function renderUnverified(view: RunView): string {
  const { report } = view;
  if (standingOf(view) !== 'unverified' || report === undefined) return '';
  return paragraphs(
    `${whoJudged(view)} Nothing failed. What only a GPU can show is open, so this is not a pass, and the pull request stays a draft.`,
    listCoverage(report)
      .map((line) => `- ${line}`)
      .join('\n'),
    `**What to do:** ${adviseOnDevice(view)}`,
  );
}

function whoJudged({ runner }: RunView): string {
  const name = runner === undefined ? 'The runner that took the job' : `The runner ${codeSpan(runner.name)}`;
  return `${name} has no GPU: it compiled the engine and checked what a CPU can check.`;
}

/** The next move, and whose it is. */
export function adviseOnDevice({ runner }: RunView): string {
  const labels = (runner?.labels ?? []).slice(0, 20).map((label) => codeSpan(label));
  const which = labels.length === 0 ? '' : ` and the labels ${listWords(labels)}`;
  const also =
    runner === undefined
      ? ''
      : ` As long as ${codeSpan(runner.name)} is online with these labels, it may be the one to take the job again.`;
  return `Whoever administers this repository registers a self-hosted runner with a GPU${which} (**Settings → Actions → Runners**). Then comment \`/metainfer retry\`: the same engine is judged there, on the device.${also}`;
}
