import type { AgentWork, RepairFinding } from '../model/agent-work.ts';
import { codeSpan, inlineText } from '../model/escape-text.ts';
import { attemptsOf, tokensInWords, usdInWords } from './agent-progress.ts';
import { count, details, link, paragraphs } from './markdown.ts';
import { hasEnded, standingOf } from './run-progress.ts';
import type { RunView } from './run-view.ts';

const shownObjections = 20;

/** The agents' part of a run; undefined where no agent writes anything. */
export function agentsOf({ run }: Pick<RunView, 'run'>): AgentWork | undefined {
  const { agents } = run.state;
  return agents === undefined || agents.contracts.length === 0 ? undefined : agents;
}

/** Whether the code of the contract was written by a model in this run. */
export function isByAgents(view: Pick<RunView, 'run'>, contract: string | null): boolean {
  return agentsOf(view)?.contracts.some((entry) => entry.contract === contract) === true;
}

/** What a model did in this run and what it cost, with the way to every prompt and answer; empty where it did nothing. */
export function renderAgentSummary(view: RunView): string {
  const work = agentsOf(view);
  if (work === undefined || attemptsOf(work) === 0 || !hasEnded(standingOf(view))) return '';
  return paragraphs(`${summaryInWords(work)}${transcriptLink(view)}`, renderObjections(work));
}

/** `A model wrote 20 contracts in 23 attempts: 312,004 of 2,000,000 tokens, $1.23.` */
function summaryInWords(work: AgentWork): string {
  const written = work.contracts.filter(({ fileSha256 }) => fileSha256 !== null).length;
  const usd = usdInWords(work.spent.usd);
  const cost = usd === '' || work.spent.usd === 0 ? '' : `, ${usd}`;
  return `A model wrote ${count(written, 'contract')} in ${count(attemptsOf(work), 'attempt')}: ${tokensInWords(work)}${cost}.`;
}

function transcriptLink({ links, run }: RunView): string {
  if (links.dashboard === null) return '';
  // Prompts of a private repository are shown to the operator alone.
  if (run.repository.isPrivate)
    return ' Every prompt and answer is kept; the operator of this app can see them.';
  return ` ${link('Every prompt and answer', `${links.dashboard}/transcript`)} is kept.`;
}

/** What the reviewer said against code that every gate let pass: for a person to look at. */
function renderObjections(work: AgentWork): string {
  const objections = work.contracts.flatMap((entry) => entry.objections);
  if (objections.length === 0) return '';
  const shown = objections.slice(0, shownObjections).map(objectionLine);
  const more = objections.length - shown.length;
  const list = [...shown, ...(more > 0 ? [`- … and ${more} more`] : [])].join('\n');
  return details(
    `${count(objections.length, 'objection')} of the reviewing model that no gate confirms: worth a look`,
    list,
  );
}

function objectionLine({ contract, file, line, message }: RepairFinding): string {
  const place = file === null ? '' : ` ${codeSpan(`${file}${line === null ? '' : `:${line}`}`)}`;
  return `- ${codeSpan(contract, 'text', 60)}${place}: ${inlineText(message, 300)}`;
}
