import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ReferenceOps } from '../../model/reference.ts';
import type { Finding } from '../../model/report.ts';
import { buildProgram } from '../build.ts';
import type { Diagnostic } from '../diagnostics.ts';
import { escapeOutput } from '../engine-channel.ts';
import { contractOfFile, makeFinding } from '../gate-context.ts';
import { withoutHostPaths } from '../host-paths.ts';
import { readUntrusted } from '../read-untrusted.ts';
import type { Limits } from '../sandbox.ts';
import { type ProcessEnd, runSandboxed } from '../sandboxed-process.ts';
import { decodeResults, encodeCase } from '../shim-cases.ts';
import { ownerOfDiagnostic } from './symbol-owner.ts';
import { caseAt, countTooLarge, type DrawnCase, drawJob } from './unit-cases.ts';
import { compareOutputs, compareRow } from './unit-compare.ts';
import { shimFile, type UnitContext, type UnitJob } from './unit-jobs.ts';
import { checkMemory } from './unit-memory.ts';

/** Results hold what the references hold, some hundreds of megabytes at most; code under test may write anything. */
const maxResultBytes = 2 ** 29;
const unitLimits: Partial<Limits> = {
  wallSeconds: 120,
  memoryBytes: 6 * 2 ** 30,
  fileBytes: maxResultBytes,
  scratchBytes: 2 ** 30,
};
/** Emulated threads take turns on one core, and a memory checker watches every access on a GPU. */
const slowWallSeconds = 900;

export interface JobOutcome {
  readonly findings: readonly Finding[];
  readonly cases: number;
  /** Left out: they would take too long here. */
  readonly tooLarge: number;
  /** The process was ended by a limit: with other constants it would only cost the same time again. */
  readonly hitLimit: boolean;
  /** Why a GPU's memory checker said nothing of a program. */
  readonly memoryObstacle?: string | undefined;
}

/** Builds the contract with all it needs and its shim, runs its cases in the sandbox, and compares outside. */
export async function runJob(context: UnitContext, job: UnitJob): Promise<JobOutcome> {
  const { contract, model, target } = job;
  const drawn = drawJob(context, job);
  const counts = { cases: drawn.length, tooLarge: countTooLarge(job) };
  if (drawn.length === 0) return { findings: [], ...counts, hitLimit: false };
  const sources = [...job.sources, shimFile(contract), 'shim-main.cpp'];
  const built = await buildProgram(
    { ...context.toolchain, jobs: 1 },
    { folder: model.folder, sources, sanitize: false, target },
  );
  if (built.binary === undefined) {
    const findings = built.diagnostics.slice(0, 6).map((item) => toFinding(context, job, item));
    return { findings, ...counts, hitLimit: false };
  }
  return { ...(await runCases(context, job, built.binary, drawn)), ...counts };
}

function toFinding({ engine }: UnitContext, { contract, model }: UnitJob, item: Diagnostic): Finding {
  const owner = ownerOfDiagnostic(engine, item) ?? contract.id;
  const file = contractOfFile(engine, item.file) === owner ? item.file : null;
  const message = `${contract.id} (${model.name}) does not compile: ${item.file}: ${item.message}`;
  const evidence = { model: model.name, wanted: 'code that compiles and links', got: item.message };
  return makeFinding('unit', owner, message, evidence, { file, line: file === null ? null : item.line });
}

async function runCases(
  context: UnitContext,
  job: UnitJob,
  binary: string,
  drawn: readonly DrawnCase[],
): Promise<Pick<JobOutcome, 'findings' | 'hitLimit' | 'memoryObstacle'>> {
  const scratch = join(job.model.folder, `run_${job.contract.id}`);
  mkdirSync(scratch, { recursive: true });
  const [casesFile, resultsFile] = [join(scratch, 'cases'), join(scratch, 'results')];
  const units = drawn.flatMap(({ whole, alone }) => [whole, ...alone.map(({ unit }) => unit)]);
  writeFileSync(casesFile, Buffer.concat(units.map(encodeCase)));
  const { toolchain, effort } = context;
  const limits = {
    ...unitLimits,
    ...(job.target === 'host' ? {} : { wallSeconds: slowWallSeconds }),
    ...effort.unitLimits,
  };
  const end = await runSandboxed({
    sandbox: toolchain.sandbox,
    command: [binary, casesFile, resultsFile],
    readOnlyPaths: [binary],
    scratch,
    devices: job.target === 'device' ? (toolchain.cuda?.deviceFiles ?? []) : [],
    limits,
    ...(toolchain.signal === undefined ? {} : { signal: toolchain.signal }),
  });
  toolchain.signal?.throwIfAborted();
  const results = decodeResults(readUntrusted(resultsFile, maxResultBytes), units.length);
  const findings = await compareAll(context, job, drawn, results);
  if (results.length < units.length)
    findings.push(endFinding(job, caseAt(drawn, results.length), end, binary));
  const hitLimit = end.reason !== 'exit';
  if (!job.isMemoryChecked || findings.length > 0) return { findings, hitLimit };
  const memory = await checkMemory(context, job, { binary, casesFile, scratch, limits });
  return { findings: memory.findings, hitLimit, memoryObstacle: memory.obstacle };
}

function endFinding(
  { contract, model }: UnitJob,
  reached: DrawnCase | undefined,
  end: ProcessEnd,
  binary: string,
): Finding {
  const how =
    end.reason === 'exit' ? `exit code ${end.exitCode ?? end.signal}` : `ended by the limit: ${end.reason}`;
  const caseId = reached?.check.caseId ?? 'unknown';
  const told = withoutHostPaths(end.stderr.toString('utf8'), [model.folder, dirname(binary)]);
  const message = `${contract.id}#${caseId} (${model.name}): the process ended (${how}) ${escapeOutput(told, 500)}`;
  const evidence = {
    case: caseId,
    model: model.name,
    inputs: reached?.check.inputs ?? null,
    wanted: 'a result for every case',
    got: `the process ended: ${how}`,
  };
  return makeFinding('unit', contract.id, message, evidence);
}

async function compareAll(
  context: UnitContext,
  job: UnitJob,
  drawn: readonly DrawnCase[],
  results: ReturnType<typeof decodeResults>,
): Promise<Finding[]> {
  const { ops } = (await import(pathToFileURL(job.contract.reference!).href)) as { ops: ReferenceOps };
  const { weightFormat, tokenizer } = context.engine;
  const { facts } = job.model.config;
  const findings: Finding[] = [];
  let at = 0;
  for (const { check, whole, alone, rows } of drawn) {
    const result = results[at];
    if (result === undefined) break;
    const reference = ops[whole.op];
    if (reference === undefined) {
      const message = `${check.contract}#${check.caseId}: reference.ts has no op ${whole.op}`;
      findings.push(makeFinding('unit', check.contract, message));
    } else {
      const { inputs, params } = whole;
      const wanted = reference({ inputs, params, facts, weightFormat, tokenizer });
      const rowsWrong = alone.flatMap(({ row }, index) => {
        const single = results[at + 1 + index];
        return single === undefined || result.failure !== null
          ? []
          : compareRow(check, result, single, row, rows);
      });
      findings.push(...compareOutputs(check, wanted, result), ...rowsWrong.slice(0, 1));
    }
    at += 1 + alone.length;
  }
  return findings;
}
