import type { ContractAccount, RealizationAccount } from '../model/contract-account.ts';
import type { ContractGraph, NodeState } from '../model/contract-graph.ts';
import {
  type CoverageCell,
  type CoverageMatrix,
  type CoverageState,
  coverageMeaning,
  coverageStates,
  evidenceStates,
} from '../model/coverage.ts';
import { type Html, type HtmlValue, html } from '../model/html.ts';
import { framePage, showTable } from './page-frame.ts';

/** What the pages show; each is worked out when it is asked for. */
export interface KnowledgePages {
  readonly coverage: () => Promise<CoverageMatrix>;
  readonly graph: () => Promise<ContractGraph>;
  /** An SVG document. */
  readonly drawGraph: () => Promise<string>;
  /** Undefined where there is no such contract. */
  readonly explain: (id: string) => Promise<ContractAccount | undefined>;
}

const looks: Readonly<Record<CoverageState | NodeState, string>> = {
  verified: 'good',
  composed: 'busy',
  'agents only': 'wait',
  missing: 'bad',
  partly: 'busy',
  unproven: 'wait',
  'no realization': 'bad',
  'header only': 'soft',
};

function showState(state: CoverageState | NodeState): Html {
  return html`<span class="state ${looks[state]}">${state}</span>`;
}

/** The matrix, what stands behind each of its cells, and every contract. */
export function renderKnowledgePage(matrix: CoverageMatrix, graph: ContractGraph): string {
  const columns = [
    { head: 'Model' },
    ...matrix.columns.map(({ platform, weights }) => ({ head: `${platform} ${weights}` })),
  ];
  const rows = matrix.rows.map(({ name, models, cells }, row) => [
    html`${name}${models.length > 0 && html`<br><span class="soft">${models.join(', ')}</span>`}`,
    ...cells.map(({ state }, column) => html`<a href="#${cellName(row, column)}">${showState(state)}</a>`),
  ]);
  const sum = coverageStates.map((state) => `${matrix.counts[state]} ${state}`).join(', ');
  const content = html`<h1>Knowledge</h1>
<p class="soft">${sum}. The same on a terminal: <code>npx metainfer knowledge coverage</code></p>
${showTable(columns, rows)}
<ul>${coverageStates.map((state) => html`<li>${showState(state)}: ${coverageMeaning[state]}</li>`)}</ul>
<h2>Contracts</h2>
<p><a href="/knowledge/graph.svg">What needs what, as a picture</a></p>
${listContracts(graph)}
<h2>Behind each cell</h2>
${matrix.rows.map(
  (
    { name, cells },
    row,
  ) => html`<details><summary>${name}</summary>${cells.map((cell, column) => showCell(cell, cellName(row, column), matrix))}</details>
`,
)}`;
  return framePage('Knowledge · MetaInfer', content, { isMoving: false });
}

function cellName(row: number, column: number): string {
  return `cell-${row + 1}-${column + 1}`;
}

function showCell(cell: CoverageCell, name: string, { parts }: CoverageMatrix): Html {
  const { platform, arch, weights, state, says, open, repeat } = cell;
  const own = cell.parts.flatMap((key) => parts[key] ?? []);
  const groups = evidenceStates
    .map((found) => ({ found, members: own.filter((part) => part.state === found) }))
    .filter(({ members }) => members.length > 0);
  return html`<h3 id="${name}">${platform}${arch !== null && html` ${arch}`}, ${weights}: ${showState(state)}</h3>
<p>${says}</p>
${open.length > 0 && html`<ul>${open.map(({ contract, reason }) => html`<li>${linkContract(contract)}: ${reason}</li>`)}</ul>`}
${groups.length > 0 && html`<ul>${groups.map(({ found, members }) => html`<li>${members.length} ${found}: ${joinLinks([...new Set(members.map(({ contract }) => contract))])}</li>`)}</ul>`}
${repeat.length > 0 && html`<pre>${repeat.join('\n')}</pre>`}`;
}

function linkContract(id: string): Html {
  return html`<a href="/knowledge/${encodeURIComponent(id)}">${id}</a>`;
}

function joinLinks(ids: readonly string[]): HtmlValue {
  return ids.map((id, index) => html`${index > 0 && ', '}${linkContract(id)}`);
}

function listContracts({ nodes }: ContractGraph): Html {
  const columns = [
    { head: 'Contract' },
    { head: 'What it is' },
    { head: 'State' },
    { head: 'Verified', isFigure: true },
  ];
  const rows = nodes.map(({ id, summary, state, uses, proven }) => [
    linkContract(id),
    summary,
    showState(state),
    uses === 0 ? '' : `${proven} of ${uses}`,
  ]);
  return showTable(columns, rows);
}

export function renderContractPage(account: ContractAccount): string {
  const { id, version, layer, summary, folder, appliesWhen } = account;
  const content = html`<h1>${id} ${version}</h1>
<p>${summary}</p>
<p class="soft">Layer ${layer}; for ${appliesWhen.length === 0 ? 'every engine' : appliesWhen.join(', ')}; <code>${folder}/contract.md</code></p>
${account.gaps.length > 0 && html`<section class="panel wait"><h2>Gaps</h2><ul>${account.gaps.map((gap) => html`<li>${gap}</li>`)}</ul></section>`}
<h2>Interface</h2>
<pre>${account.signatures.join('\n')}</pre>
<p>Needs ${account.requires.length === 0 ? 'nothing' : joinLinks(account.requires)}.</p>
<p>Needed by ${account.requiredBy.length === 0 ? 'nothing: an engine starts here' : joinLinks(account.requiredBy.map(({ contract }) => contract))}.</p>
<h2>Realizations</h2>
${account.isHeaderOnly && html`<p>The header is the whole contract.</p>`}
${account.realizations.map(showRealization)}
<h2>Gates</h2>
<p>${account.unitCases === null ? 'No unit gate' : `Unit gate with ${account.unitCases} cases`}${account.gates.filter((name) => name !== 'gate.yaml').map((name) => `, ${name}`)}.</p>
${account.invariants.length > 0 && html`<ul>${account.invariants.map(({ says, gate }) => html`<li>${says} <span class="soft">(${gate})</span></li>`)}</ul>`}
${
  account.failureModes.length > 0 &&
  html`<h2>Known ways to fail</h2>
<ul>${account.failureModes.map(({ id: name, title, symptom }) => html`<li><strong>${name} ${title}</strong>: ${symptom}</li>`)}</ul>`
}
<h2>Sources</h2>
<ul>${account.sources.map((source) => html`<li>${source}</li>`)}</ul>
<p><a href="/knowledge">All of the knowledge</a></p>`;
  return framePage(`${id} · MetaInfer`, content, { isMoving: false });
}

function showRealization({ file, applies, requires, evidence }: RealizationAccount): Html {
  const columns = [{ head: 'Platform' }, { head: 'Weights' }, { head: 'Evidence' }, { head: 'Repeat with' }];
  const rows = evidence.map(({ platform, arch, weights, state, says, repeat }) => [
    `${platform} ${arch}`,
    weights,
    html`<span class="state ${state === 'repeatable' ? 'good' : 'wait'}">${state}</span><br>${says}`,
    repeat.map((command) => html`<code>${command}</code><br>`),
  ]);
  return html`<h3>${file}</h3>
<p class="soft">For ${applies.length === 0 ? 'any target' : applies.join(', ')}${requires.length > 0 && html`; needs ${joinLinks(requires)}`}</p>
${rows.length > 0 && showTable(columns, rows)}`;
}
