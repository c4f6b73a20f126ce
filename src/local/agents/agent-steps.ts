import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { attemptContract } from '../../generation/agents/attempt-contract.ts';
import { buildContractTask } from '../../generation/agents/contract-task.ts';
import { toRepairFinding } from '../../generation/agents/repair-finding.ts';
import { type AgentFile, type ContractWork, currentFiles, keepAttempt } from '../../model/agent-work.ts';
import type { Catalog } from '../../model/catalog.ts';
import type { EngineFile } from '../../model/engine.ts';
import { AppError } from '../../model/errors.ts';
import type { RunEvent, RunState } from '../../model/run.ts';
import { configForAgents, type PreparedEngine } from '../../preparation/prepare-engine.ts';
import { openToolchain } from '../toolchain.ts';
import { checkContract, requireSandbox } from './check-contract.ts';
import { type LocalAgents, readPapers, savePapers } from './local-agents.ts';

/** What the steps of agents need of a run on this machine. */
export interface AgentRunner {
  readonly agents?: LocalAgents | undefined;
  readonly catalog: Catalog;
  readonly cacheFolder: string;
  readonly sandbox: 'auto' | 'off';
  readonly signal: AbortSignal;
  readonly runSeed: number | undefined;
  readonly onDetail: (text: string) => void;
  readonly onNote: (text: string) => void;
}

/** @throws AppError USAGE where a run that needs agents is taken up without a model */
export function requireAgents(runner: AgentRunner): LocalAgents {
  if (runner.agents !== undefined) return runner.agents;
  throw new AppError(
    'USAGE',
    'Agents write parts of this engine, and no language model is named: give the same --llm and --model as before.',
  );
}

/** The files that count for this state, by contract. */
export async function agentFilesOf(
  state: RunState,
  runner: AgentRunner,
): Promise<ReadonlyMap<string, AgentFile>> {
  if (state.agents === undefined || runner.agents === undefined) return new Map();
  return currentFiles(state.agents, await readPapers(runner.agents.papersPath));
}

/** One attempt at one contract, from the question to the contract's own gates. */
export async function attemptNext(
  state: RunState,
  work: ContractWork,
  prepared: PreparedEngine,
  runner: AgentRunner,
): Promise<RunEvent> {
  const agents = requireAgents(runner);
  const { limits, round } = state.agents!;
  const { contract } = work;
  const files = await agentFilesOf(state, runner);
  const number = work.totalAttempts + 1;
  const which = number === 1 ? contract : `${contract}, attempt ${number}`;
  runner.onDetail(which);
  const task = await makeTask(state, work, prepared, runner.catalog, files.get(contract)?.text ?? null);
  const outcome = await attemptContract(task, {
    model: agents.openModel(limits.spending),
    check: await openCheck(contract, prepared, files, runner),
    review: agents.settings.review,
    isLastAttempt: work.attempts + 1 >= limits.attemptsPerContract,
    attempt: number,
    round,
    phase: work.phase,
    signal: runner.signal,
  });
  const papers = await readPapers(agents.papersPath);
  await savePapers(agents.papersPath, keepAttempt(papers, outcome.attempt, outcome.file, outcome.account));
  const why = outcome.attempt.rejectedBy.length === 0 ? '' : ` (${outcome.attempt.rejectedBy.join(', ')})`;
  runner.onNote(`${which}: ${outcome.outcome}${why}, ${outcome.attempt.seconds.toFixed(1)} s`);
  for (const note of outcome.notes) runner.onNote(`${contract}: ${note}`);
  return {
    type: 'contract-attempted',
    contract,
    outcome: outcome.outcome,
    findings: outcome.findings,
    objections: outcome.objections,
    fileSha256: outcome.file?.sha256 ?? null,
    spent: await agents.ledger.spent(),
    stop: outcome.stop,
  };
}

export async function makeTask(
  state: RunState,
  work: Pick<ContractWork, 'contract' | 'findings'>,
  prepared: PreparedEngine,
  catalog: Catalog,
  previous: string | null,
) {
  const { constraints, model } = prepared.request;
  return buildContractTask({
    selection: prepared.selection,
    failureModes: catalog.failureModes,
    platform: prepared.platform,
    constraints,
    facts: model.facts,
    tokenizer: model.tokenizer,
    contractId: work.contract,
    configHeader: configForAgents(prepared),
    findings: work.findings,
    previous,
    sourceFiles: await readSourceFiles(prepared, dirname(state.input.fileName)),
  });
}

const maxSourceBytes = 2 ** 20;

/** What a constraint file shows to agents in source-reference mode. @throws AppError CONSTRAINTS_INVALID */
export async function readSourceFiles(
  { request }: Pick<PreparedEngine, 'request'>,
  folder: string,
): Promise<EngineFile[]> {
  const { mode, source_files: paths = [] } = request.constraints.generation;
  if (mode !== 'source-reference') return [];
  const read = async (path: string): Promise<EngineFile> => {
    const text = await readFile(resolve(folder, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw refuseSource(path, `cannot be read (${error.code ?? 'unknown'})`);
    });
    if (text.length > maxSourceBytes || text.includes('\0'))
      throw refuseSource(path, 'is no source text of at most 1 MiB');
    return { path, text };
  };
  return Promise.all(paths.map(read));
}

function refuseSource(path: string, what: string): AppError {
  return new AppError(
    'CONSTRAINTS_INVALID',
    `generation.source_files: ${path} ${what}. Paths are relative to the constraint file.`,
  );
}

/** The gates of one contract by themselves, in the sandbox: without it nothing is compiled. */
async function openCheck(
  contract: string,
  prepared: PreparedEngine,
  files: ReadonlyMap<string, AgentFile>,
  runner: AgentRunner,
) {
  const toolchain = await openToolchain(prepared, undefined, runner);
  // Before a token is spent.
  requireSandbox(toolchain);
  const entry = prepared.selection.contracts.find(
    ({ contract: known }) => known.frontMatter.id === contract,
  )!;
  return async (file: AgentFile) => {
    runner.onDetail(`${contract}: gates`);
    const findings = await checkContract({
      prepared,
      agentFiles: new Map([...files, [contract, file]]),
      contract,
      toolchain,
      cacheFolder: runner.cacheFolder,
      signal: runner.signal,
      runSeed: runner.runSeed ?? randomInt(2 ** 31),
    });
    return findings.map((finding) => toRepairFinding(finding, entry.contract));
  };
}
