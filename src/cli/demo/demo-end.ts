import type { Octokit } from '@octokit/rest';
import type { RunRecord } from '../../model/run-record.ts';
import type { AppDemo } from './start-app-demo.ts';

/** What came of the request, as it stands on the local GitHub now: review, check, comments, addresses, requests. */
export async function renderDemoEnd(
  person: Octokit,
  demo: AppDemo,
  run: RunRecord,
  seconds: number,
): Promise<{ readonly text: string; readonly data: unknown }> {
  const { owner, name } = demo.seed.repository;
  const place = { owner: owner.login, repo: name };
  const home = `${demo.github.url}/${owner.login}/${name}`;
  const { github } = run.state;
  const requests = { ...demo.app.client.requestCounts };
  const links = {
    source: `${home}/${run.source.kind === 'issue' ? 'issues' : 'pull'}/${run.source.number}`,
    pull: github === undefined ? null : `${home}/pull/${github.pullNumber}`,
    run: `${demo.app.url}/runs/${run.number}`,
  };
  const parts: string[] = [];
  if (github !== undefined) {
    const number = github.pullNumber;
    const { data: pull } = await person.rest.pulls.get({ ...place, pull_number: number });
    const { data: reviews } = await person.rest.pulls.listReviews({ ...place, pull_number: number });
    const { data: checks } = await person.rest.checks.listForRef({ ...place, ref: pull.head.sha });
    const review = reviews.at(-1);
    if (review !== undefined) parts.push(section(`Review of #${number}`, review.body));
    for (const check of checks.check_runs) {
      const title = `Check "${check.name}" on ${check.head_sha.slice(0, 8)}: ${check.conclusion ?? check.status}`;
      parts.push(section(title, `${check.output.title ?? ''}\n\n${check.output.summary ?? ''}`));
    }
  }
  parts.push(
    section(
      `${run.state.status === 'passed' ? 'Passed' : `Ended: ${run.state.status}`} after ${seconds.toFixed(0)} s`,
      [
        `issue or pull request that asked: ${links.source}`,
        ...(links.pull === null ? [] : [`engine pull request:              ${links.pull}`]),
        `run:                              ${links.run}`,
        `requests of the app to GitHub:    ${requests.writes} writes, ${requests.notifying} of them notifying; ${requests.reads} reads`,
      ].join('\n'),
    ),
  );
  const data = { status: run.state.status, seconds, links, requests, run: run.state };
  return { text: `\n${parts.join('\n\n')}`, data };
}

function section(title: string, body: string): string {
  const plain = body.replace(/<!--[\s\S]*?-->\n?/g, '').trim();
  return `── ${title} ${'─'.repeat(Math.max(3, 76 - title.length))}\n\n${plain}`;
}
