import type { AgentWork, RepairFinding } from '../model/agent-work.ts';
import { type RecordedCall, spendingOf } from '../model/completion-ledger.ts';
import { type Html, type HtmlValue, html } from '../model/html.ts';
import type { RunRecord } from '../model/run-record.ts';
import { grouped } from '../model/show-number.ts';
import { tokensOf } from '../model/spending.ts';
import { showTable } from './page-frame.ts';

const words = {
  open: ['busy', '○ to be written'],
  accepted: ['good', '✓ accepted'],
  failed: ['bad', '✗ not right'],
  stopped: ['wait', '– stopped'],
} as const;

/** What agents did in this run and what it cost, by contract, role and phase; nothing where no agent has a part. */
export function showAgents({ number, state }: RunRecord, calls: readonly RecordedCall[]): Html | false {
  const work = state.agents;
  if (work === undefined || work.contracts.length === 0) return false;
  return html`<h2>What a model writes</h2>
<p>${showTokens(calls)} of ${grouped(work.limits.spending.hardTokens)} tokens in ${calls.length} calls${showUsd(calls)}. <a href="/runs/${number}/transcript">Every prompt and answer</a></p>
${showTable(
  contractColumns,
  work.contracts.map((entry) => contractRow(entry, calls)),
)}
${showTable(groupColumns, [...groupRows(calls, 'role'), ...groupRows(calls, 'phase')])}
${showObjections(work)}`;
}

const contractColumns = [
  { head: 'Contract' },
  { head: 'Phase' },
  { head: 'Stands' },
  { head: 'Attempts', isFigure: true },
  { head: 'Calls', isFigure: true },
  { head: 'Tokens', isFigure: true },
];

function contractRow(
  { contract, phase, status, totalAttempts, findings }: AgentWork['contracts'][number],
  calls: readonly RecordedCall[],
): readonly HtmlValue[] {
  const own = calls.filter((call) => call.contract === contract);
  const [kind, word] = words[status];
  const told = status === 'accepted' ? [] : findings;
  return [
    html`<code>${contract}</code>`,
    phase,
    html`<span class="state ${kind}">${word}</span>${told.length > 0 && html`<details><summary>${told.length === 1 ? 'one finding' : `${told.length} findings`}</summary>${told.map(showFinding)}</details>`}`,
    String(totalAttempts),
    String(own.length),
    showTokens(own),
  ];
}

function showFinding({ source, file, line, message }: RepairFinding): Html {
  const place = file === null ? '' : ` ${file}${line === null ? '' : `:${line}`}`;
  return html`<p class="text"><code>${source}</code>${place}: ${message}</p>`;
}

const groupColumns = [
  { head: 'Tokens of' },
  { head: 'Calls', isFigure: true },
  { head: 'In', isFigure: true },
  { head: 'Of them cached', isFigure: true },
  { head: 'Out', isFigure: true },
  { head: 'Not reported', isFigure: true },
  { head: 'USD', isFigure: true },
];

function groupRows(calls: readonly RecordedCall[], key: 'role' | 'phase'): (readonly HtmlValue[])[] {
  return [...new Set(calls.map((call) => call[key]))].map((name) => {
    const spent = spendingOf(calls.filter((call) => call[key] === name));
    return [
      html`${key} <strong>${name}</strong>`,
      String(spent.calls),
      grouped(spent.promptTokens),
      grouped(spent.cachedTokens),
      grouped(spent.completionTokens),
      grouped(spent.unreportedTokens),
      spent.usd === null ? '–' : spent.usd.toFixed(2),
    ];
  });
}

function showTokens(calls: readonly RecordedCall[]): string {
  return grouped(tokensOf(spendingOf(calls)));
}

function showUsd(calls: readonly RecordedCall[]): string {
  const { usd } = spendingOf(calls);
  return usd === null || usd === 0 ? '' : `, $${usd.toFixed(2)}`;
}

function showObjections({ contracts }: AgentWork): Html | false {
  const objections = contracts.flatMap((entry) => entry.objections);
  if (objections.length === 0) return false;
  return html`<h3>Objections of the reviewing model that no gate confirms</h3>
<ol class="plain">${objections.map((objection) => html`<li class="text"><code>${objection.contract}</code> ${objection.file}${objection.line !== null && `:${objection.line}`}: ${objection.message}</li>`)}</ol>`;
}
