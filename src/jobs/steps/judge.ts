import { readArtifact } from '../../adapters/runner/read-artifact.ts';
import { maxArtifactBytes } from '../../adapters/runner/unzip-artifact.ts';
import { AppError } from '../../model/errors.ts';
import type { Report } from '../../model/report.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { verdictWords } from '../../model/show-verdict.ts';
import { benchmarkOutcome, verificationOutcome } from '../../verification/report-outcomes.ts';
import { type AppContext, clientOf } from '../app-context.ts';
import { withGenerationRecord } from '../with-generation-record.ts';

/** Reads what the runner uploaded. It is believed only where it belongs to this request and to this engine's bytes. */
export async function judge(context: AppContext, run: RunRecord): Promise<RunEvent> {
  const { state } = run;
  const github = state.github!;
  const requestId = github.requestId!;
  const zip = await clientOf(context, run.repository).downloadArtifact(
    github.workflowRunId!,
    `metainfer-${requestId}`,
    maxArtifactBytes,
  );
  if (zip === undefined)
    throw await endAttempt(context, run, 'no result', noArtifact(github.workflowConclusion));
  const read = await readArtifact(zip, {
    requestId,
    engineCommit: github.engineCommit,
    constraintsSha256: state.constraintsSha256!,
    treeSha256: state.engineTreeSha256!,
    platform: state.constraints!.hardware.platform,
    goals: state.constraints!.goals.require,
    fidelity: state.constraints!.goals.fidelity,
  });
  if (!read.ok) {
    throw await endAttempt(
      context,
      run,
      'report rejected',
      new AppError('REPORT_REJECTED', `The runner's report was rejected: ${read.reason}`),
    );
  }
  await context.store.saveDocument(run.id, 'log', { text: read.log });
  await context.store.saveDocument(run.id, 'result', read.result);
  if (read.report === null) {
    const { code, message } = read.result.failure ?? { code: 'INTERNAL', message: 'no reason given' };
    const error = new AppError(
      'RUNNER_FAILED',
      `The runner could not judge the engine (${code}): ${message}`,
    );
    throw await endAttempt(context, run, `refused: ${code}`, error);
  }
  const report = await withGenerationRecord(context, run, read.report);
  await context.store.saveDocument(run.id, 'report', report);
  const verification = verificationOutcome(report, `${github.enginePath}/report.json`);
  const benchmark = verification.passed ? benchmarkOutcome(report) : null;
  await context.store.endAttempt(run.id, requestId, outcomeOf(report));
  return { type: 'judged', verification, benchmark };
}

/** The attempt in one phrase. */
function outcomeOf({ verdict, gates }: Report): string {
  if (verdict !== 'failed') return verdictWords[verdict];
  const red = gates.find(({ status }) => status === 'failed');
  return red === undefined ? 'goal missed' : `failed: ${red.gate}`;
}

function noArtifact(conclusion: string | undefined): AppError {
  if (conclusion === 'cancelled')
    return new AppError('RUNNER_FAILED', 'The workflow run was cancelled on GitHub before it had a result.');
  return new AppError(
    'RUNNER_FAILED',
    `The workflow run ended (${conclusion ?? 'unknown'}) without a result of the harness. Its log on GitHub says why.`,
  );
}

async function endAttempt(
  context: AppContext,
  run: RunRecord,
  outcome: string,
  error: AppError,
): Promise<AppError> {
  await context.store.endAttempt(run.id, run.state.github!.requestId!, outcome);
  return error;
}
