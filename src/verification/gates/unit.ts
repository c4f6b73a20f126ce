import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ReferenceOps } from '../../model/reference.ts';
import type { Finding } from '../../model/report.ts';
import { buildProgram } from '../build.ts';
import { escapeOutput } from '../engine-channel.ts';
import {
  type ConfigInput,
  contractOfFile,
  type EngineContract,
  type GateContext,
  type GateOutcome,
  makeFinding,
} from '../gate-context.ts';
import { mapParallel } from '../parallel.ts';
import { Random } from '../random.ts';
import { runSandboxed } from '../sandboxed-process.ts';
import { decodeResults, encodeCase, type ShimCase } from '../shim-cases.ts';
import { findShimFolder } from '../shim-folder.ts';
import { compareOutputs, compareRow, type UnitCheck } from './unit-compare.ts';
import { countElements, drawCase, type GateCase, maxElements, pickRow } from './unit-inputs.ts';
import { constantsOf, ownModel, smallModel } from './unit-models.ts';

/** A set of constants and the folder whose config.h holds them. */
interface UnitModel {
  readonly name: string;
  readonly isOwn: boolean;
  readonly config: ConfigInput;
  readonly folder: string;
}

interface UnitJob {
  readonly contract: EngineContract;
  readonly model: UnitModel;
}

const maxRowsAlone = 8;

/** The contract and everything it needs, each once. */
export function closureOf(
  contracts: readonly EngineContract[],
  id: string,
  seen = new Set<string>(),
): EngineContract[] {
  const contract = contracts.find((candidate) => candidate.id === id);
  if (contract === undefined || seen.has(id)) return [];
  seen.add(id);
  return [...contract.requires.flatMap((required) => closureOf(contracts, required, seen)), contract];
}

/** The engine's sources, the shims and a config.h in one folder; own constants are the engine's config.h as it is. */
function writeModelFolder(
  context: GateContext,
  name: string,
  config: ConfigInput,
  isOwn: boolean,
): UnitModel {
  const { engine } = context;
  const folder = join(context.scratchFolder, 'unit', name.replace(/[^\w.-]+/g, '_').slice(0, 80));
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(engine.folder).filter((entry) => /\.(?:h|cpp)$/.test(entry))) {
    copyFileSync(join(engine.folder, file), join(folder, file));
  }
  const shims = findShimFolder();
  for (const file of ['shim.h', 'shim-main.cpp']) copyFileSync(join(shims, file), join(folder, file));
  for (const contract of engine.contracts) {
    if (contract.shim !== null) writeFileSync(join(folder, shimFile(contract)), contract.shim);
  }
  if (!isOwn) {
    const wanted = new Set(engine.contracts.flatMap((contract) => contract.config));
    writeFileSync(join(folder, 'config.h'), context.renderConfigHeader(config, wanted));
  }
  return { name, isOwn, config, folder };
}

function shimFile(contract: EngineContract): string {
  return `shim_${contract.header.replace(/\.h$/, '.cpp')}`;
}

/** One job per contract and set of constants; contracts that share a set share its folder and its objects. */
function planJobs(context: GateContext): UnitJob[] {
  const { engine } = context;
  const models = new Map<string, UnitModel>([
    ['own', writeModelFolder(context, 'own', ownModel(engine), true)],
  ]);
  const jobs: UnitJob[] = [];
  for (const contract of engine.contracts) {
    if (contract.gate === null || contract.shim === null || contract.reference === null) continue;
    jobs.push({ contract, model: models.get('own')! });
    for (const overrides of context.effort.variants ? contract.gate.configs : []) {
      const entries = Object.entries(overrides).sort(([a], [b]) => (a < b ? -1 : 1));
      const name =
        entries.length === 0
          ? 'small'
          : `small ${entries.map(([key, value]) => `${key}=${value}`).join(' ')}`;
      if (!models.has(name))
        models.set(name, writeModelFolder(context, name, smallModel(engine, overrides), false));
      jobs.push({ contract, model: models.get(name)! });
    }
  }
  return jobs;
}

interface DrawnCase {
  readonly check: UnitCheck;
  readonly whole: ShimCase;
  /** Rows that are also run alone, and the names of the inputs to split. */
  readonly alone: readonly { readonly row: number; readonly unit: ShimCase }[];
  readonly rows: number;
}

function drawJob(context: GateContext, { contract, model }: UnitJob): DrawnCase[] {
  const constants = constantsOf(model.config);
  const gate = contract.gate!;
  const applies = (unit: GateCase) =>
    (unit.when === 'always' || (unit.when === 'own') === model.isOwn) &&
    countElements(unit, constants) <= maxElements;
  return gate.cases.filter(applies).map((unit) => {
    const random = new Random(context.runSeed, `unit/${contract.id}/${unit.id}/${model.name}`);
    const whole = drawCase(unit, constants, random);
    const names = unit.rows_alone ?? [];
    const rows = names.length === 0 ? 0 : (whole.inputs[names[0]!]?.shape[0] ?? 0);
    const step = Math.max(1, Math.floor(rows / maxRowsAlone));
    const alone = [];
    for (let row = 0; row < rows; row += step) alone.push({ row, unit: pickRow(whole, names, row) });
    const tolerance = unit.tolerance ?? gate.tolerance;
    const check = {
      contract: contract.id,
      caseId: unit.id,
      model: model.name,
      tolerance,
      exact: unit.exact ?? false,
    };
    return { check, whole, alone, rows };
  });
}

async function runJob(context: GateContext, job: UnitJob): Promise<{ findings: Finding[]; cases: number }> {
  const { engine, toolchain } = context;
  const { contract, model } = job;
  const drawn = drawJob(context, job);
  if (drawn.length === 0) return { findings: [], cases: 0 };
  const needed = closureOf(engine.contracts, contract.id).flatMap(({ source }) => source ?? []);
  const sources = [...needed, shimFile(contract), 'shim-main.cpp'];
  const built = await buildProgram(
    { ...toolchain, jobs: 1 },
    { folder: model.folder, sources, sanitize: false },
  );
  if (built.binary === undefined) {
    const findings = built.diagnostics.slice(0, 3).map((item) => {
      const owner = contractOfFile(engine, item.file) ?? contract.id;
      const place = { file: item.file?.startsWith('shim') === true ? null : item.file, line: item.line };
      const message = `${contract.id} (${model.name}) does not compile: ${item.file}: ${item.message}`;
      return makeFinding('unit', owner, message, { model: model.name }, place);
    });
    return { findings, cases: drawn.length };
  }
  const findings = await runCases(context, job, built.binary, drawn);
  return { findings, cases: drawn.length };
}

async function runCases(
  context: GateContext,
  job: UnitJob,
  binary: string,
  drawn: readonly DrawnCase[],
): Promise<Finding[]> {
  const { contract, model } = job;
  const scratch = join(model.folder, `run_${contract.id}`);
  mkdirSync(scratch, { recursive: true });
  const [casesFile, resultsFile] = [join(scratch, 'cases'), join(scratch, 'results')];
  const units = drawn.flatMap(({ whole, alone }) => [whole, ...alone.map(({ unit }) => unit)]);
  writeFileSync(casesFile, Buffer.concat(units.map(encodeCase)));
  const end = await runSandboxed({
    sandbox: context.toolchain.sandbox,
    command: [binary, casesFile, resultsFile],
    readOnlyPaths: [binary],
    scratch,
    limits: { wallSeconds: 120, fileBytes: 2 ** 30 },
    ...(context.toolchain.signal === undefined ? {} : { signal: context.toolchain.signal }),
  });
  const results = decodeResults(readResults(resultsFile));
  const findings = await compareAll(context, job, drawn, results);
  if (results.length < units.length) {
    const reached = caseAt(drawn, results.length);
    const how =
      end.reason === 'exit' ? `exit code ${end.exitCode ?? end.signal}` : `ended by the limit: ${end.reason}`;
    const message = `${contract.id}#${reached} (${model.name}): the process ended (${how}) ${escapeOutput(end.stderr.toString('utf8'), 500)}`;
    findings.push(makeFinding('unit', contract.id, message, { case: reached, model: model.name }));
  }
  return findings;
}

function readResults(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

function caseAt(drawn: readonly DrawnCase[], index: number): string {
  const ids = drawn.flatMap(({ check, alone }) => [check.caseId, ...alone.map(() => check.caseId)]);
  return ids[index] ?? 'unknown';
}

async function compareAll(
  context: GateContext,
  job: UnitJob,
  drawn: readonly DrawnCase[],
  results: ReturnType<typeof decodeResults>,
): Promise<Finding[]> {
  const { ops } = (await import(pathToFileURL(job.contract.reference!).href)) as { ops: ReferenceOps };
  const { weightFormat, tokenizer } = context.engine;
  const findings: Finding[] = [];
  let at = 0;
  for (const { check, whole, alone, rows } of drawn) {
    const result = results[at];
    if (result === undefined) break;
    const reference = ops[whole.op];
    if (reference === undefined) {
      findings.push(
        makeFinding(
          'unit',
          check.contract,
          `${check.contract}#${check.caseId}: reference.ts has no op ${whole.op}`,
        ),
      );
    } else {
      const wanted = reference({
        inputs: whole.inputs,
        params: whole.params,
        facts: job.model.config.facts,
        weightFormat,
        tokenizer,
      });
      const wrong = compareOutputs(check, wanted, result);
      const rowsWrong = alone.flatMap(({ row }, index) => {
        const single = results[at + 1 + index];
        return single === undefined || result.failure !== null
          ? []
          : compareRow(check, result, single, row, rows);
      });
      findings.push(...wrong, ...rowsWrong.slice(0, 1));
    }
    at += 1 + alone.length;
  }
  return findings;
}

/** Each contract's symbols alone, at small asymmetric shapes and at the engine's own, against reference.ts. */
export async function runUnitGate(context: GateContext): Promise<GateOutcome> {
  const jobs = planJobs(context);
  if (jobs.length === 0) return { findings: [], notApplicable: 'no contract of this engine has a unit gate' };
  const outcomes = await mapParallel(jobs, context.toolchain.jobs, (job) => runJob(context, job));
  const findings = outcomes.flatMap((outcome) => outcome.findings);
  const cases = outcomes.reduce((sum, outcome) => sum + outcome.cases, 0);
  const contracts = new Set(jobs.map(({ contract }) => contract.id)).size;
  return { findings, measurements: { contracts, binaries: jobs.length, cases } };
}
