import { lstat, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalog } from '../model/catalog.ts';
import { AppError } from '../model/errors.ts';
import type { Report } from '../model/report.ts';
import { RunnerResult } from '../model/result.ts';
import { verdictExitCode, verdictWords } from '../model/show-verdict.ts';
import { programVersion } from '../preparation/package-root.ts';
import { type PreparedEngine, prepareEngine } from '../preparation/prepare-engine.ts';
import { readRequest } from '../preparation/read-request.ts';
import { hashEngineTree } from '../verification/engine-tree.ts';
import { agentsOfFolder } from './agent-claims.ts';
import { type JudgeOptions, measureEngine, verifyFolder } from './judge-engine.ts';

/** What a workflow run was asked to judge; every part of it goes back into the result. */
export interface JudgeRequest {
  readonly requestId: string;
  readonly engineCommit: string;
  readonly constraintsSha256: string;
  readonly harnessCommit: string | null;
  readonly runner: { readonly name: string; readonly labels: readonly string[] };
}

export interface JudgeRequestOptions extends JudgeOptions {
  readonly catalog: () => Promise<Catalog>;
  readonly weightsRoot: string | undefined;
  readonly baseline: boolean;
  readonly runSeed: number;
}

export interface Judgement {
  readonly result: RunnerResult;
  readonly report: Report | null;
  /** 0 passed · 1 failed · 2, 3, 4 nothing was judged · 5 not run on a device. */
  readonly exitCode: 0 | 1 | 2 | 3 | 4 | 5;
}

/**
 * Judges the engine in `folder` for a request that came through GitHub: nobody at this machine vouches for the folder,
 * so links are refused, `model.path` is refused, and weights come from the operator's folder only. A refusal is a value.
 * @throws what aborts `options.signal`
 */
export async function judgeRequest(
  folder: string,
  request: JudgeRequest,
  options: JudgeRequestOptions,
): Promise<Judgement> {
  let treeSha256: string | null = null;
  const finish = (
    outcome: Pick<RunnerResult, 'outcome' | 'failure'>,
    rest: Omit<Judgement, 'result'>,
  ): Judgement => ({ ...rest, result: toResult(request, treeSha256, outcome) });
  try {
    await refuseUnreadable(folder);
    treeSha256 = hashEngineTree(folder);
    const report = await judge(await openEngine(folder, request, options), folder, options);
    const exitCode = verdictExitCode(report.verdict);
    return finish({ outcome: 'judged', failure: null }, { report, exitCode });
  } catch (error) {
    options.signal.throwIfAborted();
    const known = error instanceof AppError ? error : new AppError('INTERNAL', describeFault(error));
    const failure = { code: known.code, message: withoutPlaces(known.message, folder, options.weightsRoot) };
    return finish({ outcome: 'refused', failure }, { report: null, exitCode: known.exitCode });
  }
}

/** Writes result.json, report.json where there is one, and log.txt; the artifact is made of these. */
export async function writeJudgement(folder: string, judgement: Judgement, log: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const files = [
    ['log.txt', log],
    ...(judgement.report === null ? [] : [['report.json', toJson(judgement.report)] as const]),
    // Last: where it is there, the others are.
    ['result.json', toJson(judgement.result)],
  ] as const;
  for (const [name, text] of files) {
    await writeFile(join(folder, `${name}.part`), text);
    await rename(join(folder, `${name}.part`), join(folder, name));
  }
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function toResult(
  request: JudgeRequest,
  treeSha256: string | null,
  outcome: Pick<RunnerResult, 'outcome' | 'failure'>,
): RunnerResult {
  return RunnerResult.parse({
    schema: 'metainfer/result/v1',
    requestId: request.requestId,
    engineCommit: request.engineCommit,
    constraintsSha256: request.constraintsSha256,
    treeSha256,
    ...outcome,
    harness: { version: programVersion(), commit: request.harnessCommit },
    runner: { name: request.runner.name, labels: [...request.runner.labels] },
  });
}

async function judge(
  prepared: PreparedEngine,
  folder: string,
  options: JudgeRequestOptions,
): Promise<Report> {
  const verified = await verifyFolder(prepared, folder, options);
  // A wrong engine's speed means nothing.
  if (verified.verdict === 'failed') return verified;
  // Without a device the timed gates say so themselves.
  options.onNote(`verification ${verdictWords[verified.verdict]}; timing`);
  return measureEngine(prepared, folder, verified, options);
}

const maxConstraintsBytes = 2 ** 18;

/** @throws AppError ENGINE_INVALID where the folder's constraint file is not the one that was asked for */
async function openEngine(
  folder: string,
  request: JudgeRequest,
  options: JudgeRequestOptions,
): Promise<PreparedEngine> {
  const path = join(folder, 'constraints.yaml');
  const size = await lstat(path).then(
    (entry) => entry.size,
    () => undefined,
  );
  if (size === undefined)
    throw new AppError('ENGINE_INVALID', 'The engine folder holds no constraints.yaml.');
  if (size > maxConstraintsBytes) {
    throw new AppError(
      'ENGINE_INVALID',
      `constraints.yaml has ${size} bytes; a constraint file has at most ${maxConstraintsBytes}.`,
    );
  }
  const catalog = await options.catalog();
  const accepted = await readRequest(await readFile(path, 'utf8'), {
    ...{ fileName: 'constraints.yaml', origin: 'github', catalog, weightsRoot: options.weightsRoot },
  });
  if (accepted.sha256 !== request.constraintsSha256) {
    throw new AppError(
      'ENGINE_INVALID',
      `constraints.yaml of the engine is not the constraint file of this request: its hash is ${accepted.sha256}, the request names ${request.constraintsSha256}. Generate the engine again.`,
    );
  }
  // No model is configured on a runner: what agents wrote, the folder alone says.
  return prepareEngine(accepted, catalog, { agents: await agentsOfFolder(folder) });
}

/** A checked-out folder may hold links that lead out of it, or what never ends being read. Nothing is read before this. */
async function refuseUnreadable(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) {
    throw new AppError('ENGINE_INVALID', 'The engine folder does not exist in this commit.');
  }
  const isSelfPlain = (await lstat(folder)).isDirectory();
  const odd = entries.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (odd === undefined && isSelfPlain) return;
  throw new AppError(
    'ENGINE_INVALID',
    `${odd?.name ?? 'The engine folder'} is a link or a special file; an engine is made of plain files. Generate the engine again.`,
  );
}

/** The message is read in public: where things lie on the operator's machine is nobody's business. */
function withoutPlaces(message: string, folder: string, weightsRoot: string | undefined): string {
  const shown = message.replaceAll(folder, 'the engine folder');
  return (weightsRoot === undefined ? shown : shown.replaceAll(weightsRoot, 'METAINFER_WEIGHTS')).slice(
    0,
    20_000,
  );
}

function describeFault(error: unknown): string {
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return `A fault of the harness, not of the engine (${what}). Please report it with the request id.`;
}
