import { type Html, html } from '../model/html.ts';
import type { RunRecord } from '../model/run-record.ts';
import { linksOf } from './github-links.ts';
import { framePage, showLink, showTable } from './page-frame.ts';
import { describeState, nameOf, showBadge } from './run-state.ts';
import { showDuration, showTime } from './show-time.ts';

const columns = [
  { head: 'Run' },
  { head: 'State' },
  { head: 'Engine' },
  { head: 'Asked for in' },
  { head: 'By' },
  { head: 'Began' },
  { head: 'Took', isFigure: true },
];

/** The newest runs. `isSignedIn` says whether runs of private repositories are among them. */
export function renderRunsPage(
  runs: readonly RunRecord[],
  options: { readonly githubUrl: string; readonly isSignedIn: boolean; readonly canSignIn: boolean },
): string {
  const rows = runs.map((run) => row(run, options.githubUrl));
  const content = html`<h1>Runs</h1>
<p class="soft">${audience(runs.length, options)}</p>
${runs.length === 0 ? html`<p>No run yet. Open an issue with a constraint file in a repository where the app is installed.</p>` : showTable(columns, rows)}`;
  return framePage('Runs · MetaInfer', content, { isMoving: false });
}

function audience(
  count: number,
  { isSignedIn, canSignIn }: { isSignedIn: boolean; canSignIn: boolean },
): Html {
  const shown = count === 1 ? 'One run' : `The newest ${count} runs`;
  if (isSignedIn) return html`${shown}, those of private repositories included.`;
  return html`${shown} of public repositories.${canSignIn && html` <a href="/sign-in">Sign in with the operator’s token</a> to see all.`}`;
}

function row(run: RunRecord, githubUrl: string) {
  const { owner, name } = run.repository;
  const place = `${owner}/${name}#${run.source.number}`;
  const end = run.finishedAt ?? new Date();
  return [
    html`<a href="/runs/${run.number}">${run.number}</a>`,
    html`${showBadge(run)}<br><span class="soft">${describeState(run)}</span>`,
    nameOf(run),
    showLink(linksOf(run, githubUrl).source, place),
    run.requestedBy.login,
    showTime(run.createdAt),
    showDuration(end.getTime() - run.createdAt.getTime()),
  ];
}
