import type { ParsedCommand, Permission } from '../model/github.ts';
import { codeSpan, inlineText, messageLines, messageText } from './escape-text.ts';
import { headline } from './headline.ts';
import { link, paragraphs } from './markdown.ts';
import { renderUnserved, renderWaiting } from './run-progress.ts';
import type { RunView } from './run-view.ts';
import { renderSetup, type SetupProblem } from './setup-texts.ts';

/** Answer to a command or event that was not allowed. `message` says what is missing and who can grant it. */
export function renderRefusal(message: string): string {
  return messageLines(message);
}

/** Answer to lines that were no command. `help` is the list of commands. */
export function renderNotUnderstood(
  commands: readonly (ParsedCommand & { readonly kind: 'not-understood' })[],
  help: string,
): string {
  const lines = commands.map(({ line, message }) => `${codeSpan(line)}: ${messageText(message)}`);
  return paragraphs(...lines, help);
}

/** The plan is made; somebody must allow what comes next. `least` is the permission that allows it. */
export function renderApprovalNeeded(view: RunView, least: Permission): string {
  const hash = view.run.state.constraintsSha256?.slice(0, 12);
  return paragraphs(
    `**The plan is ready; making the engine needs approval.** Anyone with the **${least}** permission on this repository can give it: add the label \`metainfer:approved\`, or comment \`/metainfer generate\`.`,
    `The approval is for exactly this constraint file${hash === undefined ? '' : ` (hash \`${hash}\`)`}: a change to it needs a new one.`,
  );
}

/** Answer to `/metainfer status`. Views newest first; `problems` of the set-up, empty where all is well. */
export function renderStatusReply(
  views: readonly RunView[],
  problems: readonly SetupProblem[],
  where: { readonly githubUrl: string; readonly repository: string; readonly defaultBranch: string },
): string {
  const runs = views.slice(0, 5).map(statusLine);
  return paragraphs(
    runs.length === 0 ? 'There is no run here yet.' : runs.join('\n'),
    ...views.slice(0, 1).map((view) => renderWaiting(view)),
    problems.length === 0
      ? 'Set-up: workflow file, permissions and runner labels are in order.'
      : renderSetup(problems, where),
  );
}

function statusLine(view: RunView): string {
  const { run, links } = view;
  const pull = run.state.github === undefined ? '' : `, #${run.state.github.pullNumber}`;
  const workflow = links.workflow === null ? '' : `, ${link('workflow run', links.workflow)}`;
  return `- ${link(`Run ${run.number}`, links.dashboard)}: ${inlineText(headline(view))}${pull}${workflow}`;
}

/** A job that no runner takes, as a comment of its own. */
export function renderUnservedLabel(view: RunView): string {
  return renderUnserved(view);
}
