import type { RepositoryClient } from '../../adapters/github/repository-client.ts';
import { reviewersOf } from '../../delivery/code-owners.ts';
import { renderCheck } from '../../delivery/render-check.ts';
import { renderPullBody } from '../../delivery/render-pull.ts';
import { renderReview } from '../../delivery/render-review.ts';
import { insertFigures } from '../../generation/provenance-file.ts';
import { AppError } from '../../model/errors.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { renderFigures } from '../../verification/render-report.ts';
import { type AppContext, clientOf } from '../app-context.ts';
import { findReportCommits, reportKey } from '../report-commits.ts';
import { makeRunView } from '../run-view.ts';
import { said } from '../said.ts';

/**
 * The end of a run on its engine's pull request: report, checks, review, and ready for review where it passed. Gives
 * whether the verdict stands for the head of the branch: a branch that moved since is not ready, whatever was measured.
 */
export async function concludePull(
  context: AppContext,
  run: RunRecord,
): Promise<{ readonly isBranchMoved: boolean }> {
  const client = clientOf(context, run.repository);
  const github = run.state.github!;
  const isStopped = run.state.status === 'cancelled' || run.state.status === 'superseded';
  if (isStopped && typeof github.workflowRunId === 'number' && github.workflowConclusion === undefined)
    await client.cancelWorkflowRun(github.workflowRunId);
  const isPassed = run.state.status === 'passed';
  const head = isPassed ? await commitReport(context, run, client) : undefined;
  const isBranchMoved = isPassed && head === undefined;
  const view = await makeRunView(context, run, { isBranchMoved });
  const check = renderCheck(view);
  const once = (key: string) => ({ scope: run.id, key: `${key}:${run.state.attempt}` });
  if (github.checkRunId !== undefined) await client.updateCheck(once('check-end'), github.checkRunId, check);
  if (head !== undefined)
    await client.createCheck(once('check-head'), head, run.id, check, view.links.dashboard);
  if (isStopped) return { isBranchMoved };
  if (view.report !== undefined) {
    const files = await client.listPullFiles(github.pullNumber);
    const review = renderReview(view, files);
    const commit = head ?? github.engineCommit;
    await said(context, run, () => client.createReview(once('review'), github.pullNumber, commit, review));
  }
  if (head === undefined) return { isBranchMoved };
  const body = renderPullBody(view, { closes: run.source.kind === 'issue' });
  await said(context, run, () => client.markReady(once('ready'), { nodeId: github.pullNodeId, body }));
  await said(context, run, () => askReviewers(run, client));
  return { isBranchMoved };
}

/**
 * report.json and the figures in the engine's README, as one commit. Undefined where the branch has moved since: then
 * the verdict stands for the commit that was judged, and nobody is asked to review another.
 */
async function commitReport(
  context: AppContext,
  run: RunRecord,
  client: RepositoryClient,
): Promise<string | undefined> {
  const github = run.state.github!;
  const report = (await context.store.readDocument(run.id, 'report'))!;
  const engine = (await context.store.readDocument(run.id, 'engine'))!;
  const readme = engine.files.find(({ path }) => path === 'README.md');
  const files = [{ path: `${github.enginePath}/report.json`, text: `${JSON.stringify(report, null, 2)}\n` }];
  if (readme !== undefined) {
    const text = insertFigures(readme.text, renderFigures(report));
    files.push({ path: `${github.enginePath}/README.md`, text });
  }
  const head = await client.readBranch(github.branch);
  // A repeated measurement stands on the report of the one before.
  const isReport = head !== undefined && (await findReportCommits(context, run)).includes(head.sha);
  try {
    const { sha } = await client.commitFiles(
      { scope: run.id, key: reportKey(run.state.attempt) },
      {
        branch: github.branch,
        base: github.baseBranch,
        expectedHead: isReport ? head.sha : github.engineCommit,
        files,
        message: `docs(engines): verified report of ${run.state.constraints!.name}`,
        trailers: {
          'Metainfer-Run': run.id,
          'Metainfer-Phase': 'report',
          'Constraint-Hash': run.state.constraintsSha256!,
        },
      },
    );
    return sha;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'BRANCH_MOVED') throw error;
    const text = `the branch moved during verification: the verdict is about ${github.engineCommit.slice(0, 12)} alone`;
    await context.store.addTimeline(run.id, { kind: 'problem', text, url: null });
    return undefined;
  }
}

async function askReviewers(run: RunRecord, client: RepositoryClient): Promise<void> {
  const { pullNumber, enginePath, baseBranch } = run.state.github!;
  for (const path of ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS']) {
    const text = await client.readFile(path, baseBranch);
    if (text === undefined) continue;
    const reviewers = reviewersOf(text, `${enginePath}/README.md`);
    if (reviewers.users.length + reviewers.teams.length === 0) return;
    await client.requestReviewers({ scope: run.id, key: 'reviewers' }, pullNumber, reviewers);
    return;
  }
}
