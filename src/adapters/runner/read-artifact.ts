import type { z } from 'zod';
import { Benchmark } from '../../model/benchmark.ts';
import { gateNames, Report } from '../../model/report.ts';
import { RunnerResult } from '../../model/result.ts';
import { decideOutcome } from '../../model/verdict.ts';
import { type ArtifactFile, ArtifactRefusal, unzipArtifact } from './unzip-artifact.ts';

/** What our own store says about the request; nothing in the artifact can change it. */
export interface ExpectedArtifact {
  readonly requestId: string;
  readonly engineCommit: string;
  readonly constraintsSha256: string;
  readonly treeSha256: string;
  /** Goals of the constraint file that a passed report must speak about (`goals.require`); fidelity is added. */
  readonly goals?: readonly { readonly metric: string; readonly written: string }[];
}

export type ReadArtifact =
  | {
      readonly ok: true;
      readonly result: RunnerResult;
      /** Null where nothing was judged; `result.failure` says why. */
      readonly report: Report | null;
      /** Plain text without control characters. */
      readonly log: string;
    }
  /** `reason` is one sentence for a person. */
  | { readonly ok: false; readonly reason: string };

/**
 * Reads the zip that a runner uploaded. The runner ran code that nobody vouches for, so everything is a claim: sizes
 * and names are capped, schemas are strict, every identity must be the expected one, and the verdict is decided again.
 */
export async function readArtifact(zip: Buffer, expected: ExpectedArtifact): Promise<ReadArtifact> {
  try {
    const files = await unzipArtifact(zip);
    const result = parse(RunnerResult, files, 'result.json');
    checkResult(result, expected);
    const report = files.has('report.json') ? parse(Report, files, 'report.json') : null;
    if ((result.outcome === 'judged') !== (report !== null)) {
      refuse(
        `result.json says ${result.outcome}, and report.json is ${report === null ? 'missing' : 'there'}`,
      );
    }
    if (report !== null) checkReport(report, expected);
    return { ok: true, result, report, log: cleanLog(files.get('log.txt')) };
  } catch (error) {
    if (error instanceof ArtifactRefusal) return { ok: false, reason: error.message };
    throw error;
  }
}

function refuse(reason: string): never {
  throw new ArtifactRefusal(reason);
}

function parse<Schema extends z.ZodType>(
  schema: Schema,
  files: ReadonlyMap<ArtifactFile, Buffer>,
  name: ArtifactFile,
): z.infer<Schema> {
  const bytes = files.get(name);
  if (bytes === undefined) refuse(`${name} is missing`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    refuse(`${name} is not JSON`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return refuse(`${name} breaks its schema at ${showPath(issue?.path ?? [])}: ${issue?.code ?? 'unknown'}`);
}

function showPath(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'the top' : path.map(String).join('.').slice(0, 200);
}

function requireSame(what: string, claimed: string, wanted: string): void {
  if (claimed !== wanted) refuse(`${what} is ${claimed.slice(0, 80)}; this request is about ${wanted}`);
}

function checkResult(result: RunnerResult, expected: ExpectedArtifact): void {
  requireSame('requestId of result.json', result.requestId, expected.requestId);
  requireSame('engineCommit of result.json', result.engineCommit, expected.engineCommit);
  requireSame('constraintsSha256 of result.json', result.constraintsSha256, expected.constraintsSha256);
  if (result.treeSha256 !== null) {
    requireSame('treeSha256 of result.json', result.treeSha256, expected.treeSha256);
  }
  const isJudged = result.outcome === 'judged';
  if (isJudged && result.treeSha256 === null) refuse('result.json says judged without a tree hash');
  if (isJudged !== (result.failure === null)) {
    refuse(`result.json says ${result.outcome} ${isJudged ? 'and gives a failure' : 'without a failure'}`);
  }
}

function checkReport(report: Report, expected: ExpectedArtifact): void {
  requireSame('engine.treeSha256 of report.json', report.engine.treeSha256, expected.treeSha256);
  requireSame(
    'inputs.constraintsSha256 of report.json',
    report.inputs.constraintsSha256,
    expected.constraintsSha256,
  );
  const { benchmark } = report;
  if (benchmark !== null && !Benchmark.safeParse(benchmark).success) {
    refuse('benchmark of report.json breaks its schema');
  }
  checkGates(report);
  const decided = decideOutcome(report.gates, report.goals);
  if (decided !== report.verdict) {
    refuse(`report.json says ${report.verdict}, and its gates and goals say ${decided}`);
  }
  if (decided === 'passed') checkComplete(report, expected);
}

/** Gates stand in their order, each at most once: else two results of one gate could be told apart by nobody. */
function checkGates(report: Report): void {
  const places = report.gates.map(({ gate }) => gateNames.indexOf(gate));
  if (places.some((place, index) => index > 0 && place <= places[index - 1]!)) {
    refuse('gates of report.json are repeated or out of order');
  }
}

/** The only gate that may have nothing to check: contracts without a gate of their own. */
const avoidableGate = 'unit';
const fidelityMetrics = ['fidelity.mean_kld', 'fidelity.top1_agreement'] as const;

function checkComplete(report: Report, expected: ExpectedArtifact): void {
  const absent = gateNames.filter((name) => !report.gates.some(({ gate }) => gate === name));
  if (absent.length > 0) refuse(`report.json says passed without gate ${absent.join(', ')}`);
  const avoided = report.gates.filter(({ gate, status }) => status !== 'passed' && gate !== avoidableGate);
  if (avoided.length > 0) {
    refuse(`report.json says passed, and gate ${avoided.map(({ gate }) => gate).join(', ')} does not apply`);
  }
  if (report.benchmark === null) refuse('report.json says passed without a benchmark');
  const unspoken = [
    ...fidelityMetrics.filter((name) => !report.goals.some(({ metric }) => metric === name)),
    ...(expected.goals ?? [])
      .filter(
        (goal) =>
          !report.goals.some(({ metric, written }) => metric === goal.metric && written === goal.written),
      )
      .map(({ metric }) => metric),
  ];
  if (unspoken.length > 0) refuse(`report.json says passed without goal ${unspoken.join(', ')}`);
}

/** Colours, cursor movements and other control characters mean nothing in a page or a comment. */
function cleanLog(bytes: Buffer | undefined): string {
  const text = new TextDecoder('utf-8').decode(bytes ?? new Uint8Array());
  return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}
