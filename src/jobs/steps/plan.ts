import type { AgentWork } from '../../model/agent-work.ts';
import { AppError } from '../../model/errors.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { startAgentWork } from '../../plan/agent-work.ts';
import { type PreparedEngine, prepareEngine } from '../../preparation/prepare-engine.ts';
import { lowerLimits } from '../agent-runs.ts';
import type { AppContext } from '../app-context.ts';
import { readRepositoryConfig } from '../ask-permission.ts';
import { acceptRequest } from '../constraint-request.ts';

/** What is made of what, and by whom. */
export async function plan(context: AppContext, run: RunRecord): Promise<RunEvent> {
  const prepared = await prepareRun(context, run);
  const { plan, planSha256, request } = prepared;
  const work = context.llm && startAgentWork(plan, context.llm.settings, request.constraints);
  const agents = work && work.contracts.length > 0 ? await limitWork(context, run, work) : undefined;
  const limitTokens = agents?.limits.spending.hardTokens ?? plan.cost.limitTokens;
  await context.store.saveDocument(run.id, 'plan', { ...plan, cost: { ...plan.cost, limitTokens } });
  return {
    ...{ type: 'plan-made', sha256: planSha256, missing: plan.missing },
    ...(agents === undefined ? {} : { agents }),
  };
}

async function limitWork(context: AppContext, run: RunRecord, work: AgentWork): Promise<AgentWork> {
  const { generation } = await readRepositoryConfig(context, run.repository);
  return lowerLimits(work, generation);
}

export async function prepareRun(context: AppContext, run: RunRecord): Promise<PreparedEngine> {
  const { text, fileName } = run.state.input;
  const request = await acceptRequest(context, text, fileName);
  return prepareEngine(request, context.catalog, {
    // A plan with agents stays one while its run lasts, whatever became of the model.
    agents: { hasModel: context.llm !== undefined || run.state.agents !== undefined },
    llm: context.llm?.settings,
  });
}

/** The plan made again; it must be the one that was announced. @throws AppError RUN_STATE_INVALID */
export async function prepareAgain(context: AppContext, run: RunRecord): Promise<PreparedEngine> {
  const prepared = await prepareRun(context, run);
  if (prepared.planSha256 === run.state.planSha256) return prepared;
  throw new AppError(
    'RUN_STATE_INVALID',
    'The knowledge changed since this plan was made, and it comes out differently now. Ask for it anew with `/metainfer generate` after an edit of the constraint file.',
  );
}
