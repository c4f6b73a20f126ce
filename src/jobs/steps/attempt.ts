import { attemptContract } from '../../generation/agents/attempt-contract.ts';
import { buildContractTask, type ContractTask } from '../../generation/agents/contract-task.ts';
import { type ContractWork, keepAttempt } from '../../model/agent-work.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { configForAgents, type PreparedEngine } from '../../preparation/prepare-engine.ts';
import { agentFilesOf, openAgents, readPapers } from '../agent-runs.ts';
import type { AppContext } from '../app-context.ts';

/**
 * One attempt of an agent at one contract. Nothing that it wrote is compiled or run on the app's machine: static rules
 * and the reviewer judge here, the gates on the runner.
 */
export async function attemptNext(
  context: AppContext,
  run: RunRecord,
  work: ContractWork,
  prepared: PreparedEngine,
  signal: AbortSignal,
): Promise<RunEvent> {
  const { limits, round } = run.state.agents!;
  const { model, ledger } = await openAgents(context, run, signal);
  const files = await agentFilesOf(context, run);
  const number = work.totalAttempts + 1;
  const task = makeTask(context, prepared, work, files.get(work.contract)?.text ?? null);
  const outcome = await attemptContract(task, {
    ...{ model, signal, round, phase: work.phase, attempt: number },
    check: async () => [],
    review: context.llm!.settings.review,
    isLastAttempt: work.attempts + 1 >= limits.attemptsPerContract,
  });
  const papers = keepAttempt(await readPapers(context, run), outcome.attempt, outcome.file, outcome.account);
  await context.store.saveDocument(run.id, 'agents', papers);
  await tellAttempt(context, run, outcome);
  const { findings, objections, stop, file } = outcome;
  return {
    type: 'contract-attempted',
    ...{ contract: work.contract, outcome: outcome.outcome, findings, objections, stop },
    ...{ fileSha256: file?.sha256 ?? null, spent: await ledger.spent() },
  };
}

function makeTask(
  { catalog }: AppContext,
  prepared: PreparedEngine,
  { contract, findings }: Pick<ContractWork, 'contract' | 'findings'>,
  previous: string | null,
): ContractTask {
  const { constraints, model } = prepared.request;
  return buildContractTask({
    ...{ selection: prepared.selection, platform: prepared.platform, constraints, findings, previous },
    ...{ facts: model.facts, tokenizer: model.tokenizer, contractId: contract },
    failureModes: catalog.failureModes,
    configHeader: configForAgents(prepared),
  });
}

async function tellAttempt(
  context: AppContext,
  run: RunRecord,
  { attempt, outcome, notes }: Awaited<ReturnType<typeof attemptContract>>,
): Promise<void> {
  const { contract, number, rejectedBy, seconds, lines } = attempt;
  const why = rejectedBy.length === 0 ? '' : ` by ${rejectedBy.join(', ')}`;
  const what = outcome === 'refused' ? 'no usable answer' : `${outcome}${why}, ${lines} lines`;
  const text = [`${contract}, attempt ${number}: ${what}, ${seconds.toFixed(1)} s`, ...notes].join('; ');
  await context.store.addTimeline(run.id, { kind: 'step', text, url: null });
}
