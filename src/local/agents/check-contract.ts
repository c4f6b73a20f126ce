import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listAgentPaths } from '../../generation/agent-sources.ts';
import { checkAgentCode } from '../../generation/check-agent-code.ts';
import { renderConfigHeader } from '../../generation/config-header.ts';
import type { AgentFile } from '../../model/agent-work.ts';
import { AppError } from '../../model/errors.ts';
import type { Finding } from '../../model/report.ts';
import type { PreparedEngine } from '../../preparation/prepare-engine.ts';
import { compileSources, type Toolchain } from '../../verification/build.ts';
import {
  contractOfFile,
  type EngineContract,
  type EngineUnderTest,
  makeFinding,
  placeFindings,
} from '../../verification/gate-context.ts';
import { scanFile } from '../../verification/gates/static.ts';
import { runUnitJobs } from '../../verification/gates/unit.ts';
import { closureOf } from '../../verification/gates/unit-jobs.ts';
import type { Limits } from '../../verification/sandbox.ts';
import { type ContractFolder, writeContractFolder } from './contract-folder.ts';

export interface ContractCheck {
  readonly prepared: PreparedEngine;
  /** Contract → its newest file; that of `contract` is what is judged. */
  readonly agentFiles: ReadonlyMap<string, AgentFile>;
  readonly contract: string;
  readonly toolchain: Toolchain;
  /** Scratch folders are made and removed in it. */
  readonly cacheFolder: string;
  readonly signal: AbortSignal;
  /** Inputs of the unit gate are drawn from it. */
  readonly runSeed: number;
  /** Tighter than usual, for the compiler and for the programs of the unit gate. */
  readonly limits?: { readonly compile?: Partial<Limits>; readonly unit?: Partial<Limits> };
}

/**
 * One file is compiled, and its symbols are called at small shapes: what takes longer has gone wrong. CPU time decides
 * first, so that a busy machine blames nobody.
 */
const usualCompileLimits = { wallSeconds: 240, cpuSeconds: 60, memoryBytes: 2 * 2 ** 30 };
const usualUnitLimits = { wallSeconds: 120, cpuSeconds: 60, memoryBytes: 3 * 2 ** 30 };

/** @throws AppError SANDBOX_UNAVAILABLE: what an agent wrote is neither compiled nor run without a sandbox */
export function requireSandbox({ sandbox }: Toolchain): void {
  if (sandbox.kind === 'bubblewrap') return;
  throw new AppError(
    'SANDBOX_UNAVAILABLE',
    `Code written by a language model is compiled and run only under bubblewrap, and there is no sandbox here (${sandbox.reason}). Install it (Debian: apt install bubblewrap; unprivileged user namespaces must be allowed) and try again.`,
  );
}

/**
 * What gates say about one contract as soon as its file exists: static rules, the compiler on this file alone, and,
 * where everything it needs is there, its unit gate. Later gates run only where the earlier ones are green. Findings
 * are about this contract only: what is wrong with a file that it needs is for the gates of the whole engine.
 */
export async function checkContract(check: ContractCheck): Promise<Finding[]> {
  requireSandbox(check.toolchain);
  const file = check.agentFiles.get(check.contract);
  if (file === undefined) throw new AppError('INTERNAL', `${check.contract} has no file to check.`);
  const folder = await writeContractFolder(
    check.prepared,
    check.agentFiles,
    join(check.cacheFolder, 'contracts'),
  );
  const { engine } = folder;
  try {
    const contract = engine.contracts.find(({ id }) => id === check.contract);
    if (contract?.source == null)
      throw new AppError('INTERNAL', `${check.contract} is no contract of this engine that an agent writes.`);
    const faults = scanContract(check, folder, contract.source);
    if (faults.length > 0) return faults;
    return placeFindings(engine, await compileAndRun(check, engine, contract));
  } finally {
    await rm(engine.folder, { recursive: true, force: true });
  }
}

function scanContract(check: ContractCheck, { engine, files }: ContractFolder, source: string): Finding[] {
  const { text } = files.find(({ path }) => path === source)!;
  const headers = new Set(files.map(({ path }) => path).filter((path) => path.endsWith('.h')));
  const paths = [...listAgentPaths(check.prepared.selection)].filter(([path]) => path === source);
  const problems = checkAgentCode(files, new Map(paths))
    // The scan of the static gate names those.
    .filter(({ code }) => code !== 'include-not-allowed')
    .map(({ line = null, message, code }) =>
      makeFinding('static', check.contract, message, { code }, { file: source, line }),
    );
  return [...scanFile(engine, headers, source, text), ...problems];
}

async function compileAndRun(
  check: ContractCheck,
  engine: EngineUnderTest,
  contract: EngineContract,
): Promise<Finding[]> {
  const compileLimits = { ...usualCompileLimits, ...check.limits?.compile };
  const unitLimits = { ...usualUnitLimits, ...check.limits?.unit };
  const toolchain = { ...check.toolchain, signal: check.signal, limits: compileLimits };
  const compiled = await compileAlone(engine, contract, toolchain);
  if (compiled.length > 0) return compiled;
  const needed = closureOf(engine.contracts, contract.id);
  const isComplete = needed.every(({ id, source }) => source !== null || isHeaderOnly(check, id));
  if (!isComplete) return [];
  const { findings } = await runUnitJobs(
    {
      ...{ engine, toolchain, runSeed: check.runSeed, renderConfigHeader, scratchFolder: engine.folder },
      effort: { oracleTokens: 0, processes: 1, variants: true, sanitize: false, unitLimits },
    },
    { only: contract.id, stopAtFirstFailure: true },
  );
  return findings.filter((finding) => finding.contract === contract.id);
}

function isHeaderOnly(check: ContractCheck, id: string): boolean {
  const { contracts } = check.prepared.selection;
  const status = contracts.find(({ contract }) => contract.frontMatter.id === id)?.status;
  return status === 'header-only' || status === 'replaced';
}

/** The compiler's words about one source; an error in a header that it includes counts as its own. */
async function compileAlone(
  engine: EngineUnderTest,
  contract: EngineContract,
  toolchain: Toolchain,
): Promise<Finding[]> {
  const sources = [contract.source!];
  const diagnostics = await compileSources(toolchain, { folder: engine.folder, sources, sanitize: false });
  return diagnostics.map(({ file, line, message }) => {
    const isOwn = contractOfFile(engine, file) === contract.id;
    const told = isOwn ? message : `${message} (in ${file ?? 'the compiler'}:${line ?? '?'})`;
    const place = { file: contract.source, line: isOwn && file === contract.source ? line : null };
    return makeFinding('build', contract.id, told, { wanted: 'code that compiles', got: message }, place);
  });
}
