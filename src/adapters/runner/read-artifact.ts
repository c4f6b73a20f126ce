import type { z } from 'zod';
import { Report } from '../../model/report.ts';
import { RunnerResult } from '../../model/result.ts';
import { ArtifactRefusal } from './artifact-refusal.ts';
import { checkReport, type ExpectedReport, requireSame } from './check-report.ts';
import { type ArtifactFile, unzipArtifact } from './unzip-artifact.ts';

/** What our own store says about the request; nothing in the artifact can change it. */
export interface ExpectedArtifact extends ExpectedReport {
  readonly requestId: string;
  readonly engineCommit: string;
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
 * and names are capped, schemas are strict, every identity must be the expected one, and goals and verdict are judged
 * again.
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

/** Colours, cursor movements and other control characters mean nothing in a page or a comment. */
function cleanLog(bytes: Buffer | undefined): string {
  const text = new TextDecoder('utf-8').decode(bytes ?? new Uint8Array());
  return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}
