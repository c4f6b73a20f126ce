import { renderNotUnderstood, renderRefusal } from '../delivery/replies.ts';
import { AppError } from '../model/errors.ts';
import type { Capability, CommandName, Intent, ParsedCommand } from '../model/github.ts';
import { capabilities } from '../model/github.ts';
import { commandTable, describeCommand } from '../webhooks/command-table.ts';
import { renderHelp } from '../webhooks/render-help.ts';
import { done, type Handled, ignored, reactTo, replyTo } from './answer.ts';
import { type AppContext, clientOf } from './app-context.ts';
import { type Answer, askPermission } from './ask-permission.ts';
import { findTarget, type Target } from './command-target.ts';
import { doBench, doCancel, doGenerate, doPlan, doRetry, doStatus } from './do-command.ts';
import { doFix } from './do-fix.ts';

type CommandIntent = Intent & { readonly kind: 'command' };

/** What a command came to: a reaction, and a text where there is something to say. */
export interface CommandOutcome {
  readonly reaction: 'rocket' | '+1' | 'confused' | '-1';
  readonly text?: string;
}

/** Every command of a comment, one after another, each answered. */
export async function handleCommand(
  context: AppContext,
  intent: CommandIntent,
  deliveryId: string,
): Promise<Handled> {
  if (intent.commands.length === 0) return ignored('no command');
  const client = clientOf(context, intent.repository);
  await reactTo(client, intent.place, 'eyes');
  for (const [index, command] of intent.commands.entries()) {
    const outcome = await answerOnce(context, deliveryId, index, () =>
      answerCommand(context, intent, command),
    );
    if (outcome.text !== undefined)
      await replyTo(client, intent.place, deliveryId, `command-${index}`, outcome.text);
    await reactTo(client, intent.place, outcome.reaction);
  }
  return done(
    intent.commands.map((command) => (command.kind === 'command' ? command.name : 'unknown')).join(', '),
  );
}

/** What a command did is remembered before it is told: a delivery that is taken up again does nothing twice. */
async function answerOnce(
  { store }: AppContext,
  deliveryId: string,
  index: number,
  answer: () => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const key = `outcome-${index}`;
  const known = await store.effects.find(deliveryId, key);
  if (typeof known?.githubId === 'string') return JSON.parse(known.githubId) as CommandOutcome;
  const outcome = await answer();
  await store.effects.finish(deliveryId, key, {
    ...{ githubId: JSON.stringify(outcome), url: null, contentSha256: null },
  });
  return outcome;
}

async function answerCommand(
  context: AppContext,
  intent: CommandIntent,
  command: ParsedCommand,
): Promise<CommandOutcome> {
  if (command.kind === 'not-understood') return { reaction: 'confused', text: renderNotUnderstood(command) };
  try {
    const target = await findTarget(context, intent.repository, intent.place);
    const answer = await mayRun(context, intent, command.name, target);
    if (!answer.allowed) return { reaction: '-1', text: renderRefusal(answer.message) };
    return await performers[command.name](context, intent, target, command.arguments);
  } catch (error) {
    if (error instanceof AppError && error.source === 'user')
      return { reaction: '-1', text: renderRefusal(error.message) };
    throw error;
  }
}

const performers: Readonly<
  Record<
    CommandName,
    (
      context: AppContext,
      intent: CommandIntent,
      target: Target,
      given: Readonly<Record<string, string>>,
    ) => Promise<CommandOutcome>
  >
> = {
  help: async (context, intent) => ({
    reaction: '+1',
    text: renderHelp(commandTable, { allowed: await allowedTo(context, intent) }),
  }),
  status: doStatus,
  plan: doPlan,
  generate: doGenerate,
  fix: doFix,
  bench: doBench,
  retry: doRetry,
  cancel: doCancel,
};

/** The person who asked for a run may always stop it; everything else is a matter of its cost. */
async function mayRun(
  context: AppContext,
  { repository, actor }: CommandIntent,
  name: CommandName,
  target: Target,
): Promise<Answer> {
  if (name === 'cancel' && target.newest?.requestedBy.id === actor.id) return { allowed: true };
  const { capability } = describeCommand(name);
  // The label lets a constraint hash be made, once; stopping it or spending more runner time is another matter.
  const isApproved = name === 'generate' && target.isApproved;
  const answer = await askPermission(context, { repository, actor, capability, isApproved });
  if (!answer.allowed || capability !== 'generate') return answer;
  return askPermission(context, { repository, actor, capability: 'runner', isApproved });
}

async function allowedTo(
  context: AppContext,
  { repository, actor }: CommandIntent,
): Promise<readonly Capability[]> {
  const allowed: Capability[] = [];
  for (const capability of capabilities) {
    const answer = await askPermission(context, { repository, actor, capability, isApproved: false });
    if (answer.allowed) allowed.push(capability);
  }
  return allowed;
}
