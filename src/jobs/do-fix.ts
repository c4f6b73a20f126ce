import {
  renderFixBudget,
  renderFixClosed,
  renderFixElsewhere,
  renderFixKnowledge,
  renderFixNoModel,
  renderFixNotByAgents,
  renderFixUnderWay,
  renderFixWhere,
} from '../delivery/fix-texts.ts';
import type { RepairFinding } from '../model/agent-work.ts';
import type { CommandPlace, Intent } from '../model/github.ts';
import type { RunRecord } from '../model/run-record.ts';
import { tokensOf } from '../model/spending.ts';
import { isOpen } from '../pipeline.ts';
import { agentFilesOf } from './agent-runs.ts';
import { type AppContext, clientOf } from './app-context.ts';
import type { Target } from './command-target.ts';
import type { CommandOutcome } from './handle-command.ts';

type CommandIntent = Intent & { readonly kind: 'command' };

/** What a person wants changed in a file that a model wrote becomes a finding for its next attempt. */
export async function doFix(
  context: AppContext,
  intent: CommandIntent,
  { newest }: Target,
  given: Readonly<Record<string, string>>,
): Promise<CommandOutcome> {
  const { place, actor } = intent;
  if (newest?.state.github?.pullNumber !== place.number)
    return { reaction: 'confused', text: renderFixElsewhere(newest?.state.github?.pullNumber ?? null) };
  const refusal = await findRefusal(context, newest);
  if (refusal !== undefined) return refusal;
  const wish = readWish(place, given.what!, newest.state.github.enginePath);
  const found = await findFile(context, newest, wish);
  if ('reaction' in found) return found;
  const moved = await context.store.moveRun(
    newest.id,
    { type: 'fix-requested', findings: [found] },
    ({ state }) => !isOpen(state),
  );
  if (moved === undefined) return { reaction: '+1', text: renderFixUnderWay(newest.number) };
  const where = `${found.file ?? found.contract}${found.line === null ? '' : `:${found.line}`}`;
  const text = `@${actor.login} asked for a change of ${where}: ${found.message.slice(0, 300)}`;
  await context.store.addTimeline(newest.id, { kind: 'person', text, url: null });
  return { reaction: 'rocket' };
}

async function findRefusal(context: AppContext, run: RunRecord): Promise<CommandOutcome | undefined> {
  const { agents, github } = run.state;
  if (agents === undefined || agents.contracts.length === 0)
    return { reaction: '-1', text: renderFixNotByAgents() };
  if (isOpen(run.state)) return { reaction: '+1', text: renderFixUnderWay(run.number) };
  if (context.llm === undefined) return { reaction: '-1', text: renderFixNoModel() };
  const used = tokensOf(agents.spent);
  const { hardTokens } = agents.limits.spending;
  if (used >= hardTokens) return { reaction: '-1', text: renderFixBudget(used, hardTokens) };
  const pull = await clientOf(context, run.repository).readPull(github!.pullNumber);
  return pull.state === 'closed' ? { reaction: '-1', text: renderFixClosed(pull.isMerged) } : undefined;
}

interface Wish {
  /** A file of the engine folder, or a contract's id. */
  readonly name: string;
  readonly line: number | null;
  readonly what: string;
}

/** The line that the comment stands on says which file; in the conversation the first word does. */
function readWish({ comment }: CommandPlace, text: string, enginePath: string): Wish {
  if (comment.file !== undefined) {
    const { path, line } = comment.file;
    return {
      name: path.startsWith(`${enginePath}/`) ? path.slice(enginePath.length + 1) : path,
      line,
      what: text,
    };
  }
  const [first = '', ...rest] = text.split(/\s+/);
  const [, name = '', line] = /^`?([^`:]*)(?::(\d{1,6}))?`?[:,;]?$/.exec(first) ?? [];
  return { name, line: line === undefined || Number(line) < 1 ? null : Number(line), what: rest.join(' ') };
}

/** The finding for the agent that wrote the file, or the answer to somebody who means another one. */
async function findFile(
  context: AppContext,
  run: RunRecord,
  { name, line, what }: Wish,
): Promise<RepairFinding | CommandOutcome> {
  const files = [...(await agentFilesOf(context, run)).values()];
  const file = files.find(({ path, contract }) => path === name || contract === name);
  const work = run.state.agents!.contracts.find(({ contract }) => contract === (file?.contract ?? name));
  if (work !== undefined && what !== '') {
    const place = { contract: work.contract, source: 'person', file: file?.path ?? null, line };
    return { ...place, message: what, expected: null, got: null, clause: null };
  }
  if (work === undefined && (await isOfEngine(context, run, name)))
    return { reaction: '-1', text: renderFixKnowledge(name) };
  const shown = file === undefined ? files.map(({ path }) => path) : [file.path];
  return { reaction: 'confused', text: renderFixWhere(shown) };
}

async function isOfEngine({ store }: AppContext, run: RunRecord, name: string): Promise<boolean> {
  const engine = await store.readDocument(run.id, 'engine');
  if (engine?.files.some(({ path }) => path === name) === true) return true;
  const plan = await store.readDocument(run.id, 'plan');
  return plan?.coverage.some(({ contract }) => contract === name) === true;
}
