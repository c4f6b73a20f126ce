import { codeSpan, inlineText, messageLines, messageText } from '../model/escape-text.ts';
import type { ParsedCommand } from '../model/github.ts';
import { headline } from './headline.ts';
import { link, paragraphs } from './markdown.ts';
import { renderUnserved, renderWaiting } from './render-waiting.ts';
import type { RunView } from './run-view.ts';
import { renderSetup, type SetupPlace, type SetupProblem } from './setup-texts.ts';

/** Answer to a command or event that was not allowed. `message` says what is missing and who can grant it. */
export function renderRefusal(message: string): string {
  return messageLines(message);
}

/** Answer to a line that was no command. */
export function renderNotUnderstood(command: ParsedCommand & { readonly kind: 'not-understood' }): string {
  return `${codeSpan(command.line)} was not understood: ${messageText(command.message)} \`/metainfer help\` lists the commands.`;
}

/** Answer to `/metainfer status`: runs, newest first, and the set-up: no problems, or null where it was not looked at. */
export function renderStatusReply(
  views: readonly RunView[],
  problems: readonly SetupProblem[] | null,
  place: SetupPlace,
): string {
  const [newest] = views;
  return paragraphs(
    newest === undefined
      ? 'No run was asked for here yet: put a constraint file into the issue, or add one to the pull request.'
      : views.slice(0, 5).map(statusLine).join('\n'),
    newest !== undefined && renderWaiting(newest),
    problems?.length === 0
      ? 'Set-up: permissions and the workflow file are in order.'
      : problems !== null && paragraphs('**To be set up here:**', renderSetup(problems, place)),
  );
}

function statusLine(view: RunView): string {
  const { run, links } = view;
  const pull = run.state.github === undefined ? '' : ` · #${run.state.github.pullNumber}`;
  const workflow = links.workflow === null ? '' : ` · ${link('workflow run', links.workflow)}`;
  return `- ${link(`Run ${run.number}`, links.dashboard)} · ${inlineText(headline(view))}${pull}${workflow}`;
}

/** A job that no runner takes, as a comment of its own. */
export function renderUnservedLabel(view: Pick<RunView, 'queue'>): string {
  return renderUnserved(view);
}
