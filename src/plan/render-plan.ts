import { describeGap } from '../model/knowledge-gap.ts';
import type { Arithmetic, Plan } from '../model/plan.ts';
import { showBytes } from '../model/show-bytes.ts';
import { grouped, short } from '../model/show-number.ts';
import { noteGpuCheck, noteGpuRates, showMachine } from './render-gpu.ts';

export interface PlanView {
  /** That a runner needs for this engine, from runner-config/labels.yaml; none where nobody knows them. */
  readonly runnerLabels?: readonly string[] | undefined;
}

/** Markdown for a terminal or a comment. Deterministic; no table cell holds a line break or an unescaped bar. */
export function renderPlan(plan: Plan, { runnerLabels = [] }: PlanView = {}): string {
  const parts = [
    renderHead(plan),
    renderCoverage(plan),
    ...(plan.cost.contracts.length === 0 ? [] : [renderCost(plan)]),
    renderMemory(plan),
    renderLimit(plan),
    ...(plan.gpu === undefined ? [] : [noteGpuCheck(plan.gpu, runnerLabels)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function renderHead(plan: Plan): string {
  const { request, target } = plan;
  const asked = `${cell(request.model)} on ${showMachine(plan)}, ${target['numerics.weights']} weights`;
  return `## Plan: ${plan.name}\n${asked}. ${renderVerdict(plan)}`;
}

function renderVerdict({ coverage, missing, gap, cost, files }: Plan): string {
  if (missing.length > 0) {
    const lines = missing.map((line) => `- ${line}`).join('\n');
    const way = gap === undefined ? [] : describeGap(gap).map((line) => `- ${line}`);
    return `**Not covered yet**; no engine can be made:\n${lines}${way.length === 0 ? '' : `\n\nWhat would cover it:\n${way.join('\n')}`}`;
  }
  const filled = coverage.filter(({ status }) => status === 'realization').length;
  const agents = coverage.filter(({ status }) => status === 'agent').length;
  const by = [
    filled > 0 || agents === 0 ? ` by ${count(filled, 'realization')}` : '',
    agents > 0 ? `, ${agents} of them by agents` : '',
  ].join('');
  const { modelTokens } = cost;
  const needs = modelTokens === null || modelTokens === 0 ? 'no' : `about ${grouped(modelTokens)}`;
  return `**Covered**: ${count(coverage.length, 'contract')}${by}, ${files.length} files; needs ${needs} model tokens.`;
}

function renderCoverage({ coverage, tokenizer }: Plan): string {
  const rows = coverage.map(({ contract, version, status, realization, reason }) => [
    contract,
    version,
    status === 'agent' ? 'agent (a model writes it)' : (realization ?? status),
    status === 'realization' && reason.endsWith('is the only realization that applies.')
      ? 'the only one that applies'
      : reason,
  ]);
  const text = tokenizer.model === 'none' ? '\n\nNo tokenizer: this engine takes and gives token ids.' : '';
  return table(['Contract', 'Version', 'Filled by', 'Why'], rows) + text;
}

/** What agents are expected to need, in the order of writing, and what they may use at most. */
function renderCost({ cost }: Plan): string {
  const rows = cost.contracts.map(({ contract, phase, promptTokens, outputTokens, basis }) => [
    contract,
    phase,
    grouped(promptTokens),
    grouped(outputTokens),
    basis,
  ]);
  const sum = (key: 'promptTokens' | 'outputTokens') =>
    grouped(cost.contracts.reduce((total, entry) => total + entry[key], 0));
  const total = cost.modelTokens ?? 0;
  const money = cost.usd === null || cost.usd === 0 ? '' : `, about ${showUsd(cost.usd)}`;
  rows.push(['**Total**', '', sum('promptTokens'), sum('outputTokens'), `${grouped(total)} tokens${money}`]);
  const head = ['Written by agents', 'Phase', 'Prompt tokens', 'Output tokens', 'Estimated from'];
  return `${table(head, rows, [2, 3])}\n\n${limitNote(total, cost.limitTokens)}`;
}

function limitNote(total: number, limit: number | null): string {
  if (limit === null) return 'Attempts to repair and reviews are counted in. No limit is set.';
  const note = `Attempts to repair and reviews are counted in. The limit of this run is ${grouped(limit)} tokens.`;
  return total <= limit
    ? note
    : `${note}\n- **More than the limit**: the run will probably stop before the engine is whole.`;
}

function showUsd(usd: number): string {
  return usd < 0.01 ? 'less than 0.01 USD' : `${usd.toFixed(2)} USD`;
}

function renderMemory({ arithmetic, request, target, gpu }: Plan): string {
  const device = gpu?.device ?? undefined;
  const given = `${percent(arithmetic.memoryBytes, request.memoryBytes)} of ${showBytes(request.memoryBytes)}`;
  const capacity = device === undefined ? '' : `; the device has ${showBytes(device.memoryBytes)}`;
  const rows = [
    [
      'Weights',
      showBytes(arithmetic.weightBytes),
      `${showCount(arithmetic.parameters)} parameters in ${target['numerics.weights']}`,
    ],
    [
      'KV cache',
      showBytes(arithmetic.kvBytesTotal),
      kvNote(arithmetic, request, String(target['numerics.kv_cache'])),
    ],
    [
      gpu === undefined ? 'Activations' : 'Workspace',
      showBytes(arithmetic.activationBytes),
      'one forward call',
    ],
    ['**Total**', `**${showBytes(arithmetic.memoryBytes)}**`, `${given}${capacity}`],
  ];
  return table(['Memory', 'Size', 'From'], rows, [1]);
}

function kvNote(arithmetic: Arithmetic, request: Plan['request'], format: string): string {
  const tokens = request.maxBatch * request.maxContext;
  const capped =
    arithmetic.kvBytesTotal < tokens * arithmetic.kvBytesPerToken ? ', windowed layers capped' : '';
  return `${request.maxBatch} × ${grouped(request.maxContext)} tokens × ${showBytes(arithmetic.kvBytesPerToken)} in ${format}${capped}`;
}

function renderLimit({ arithmetic, limit, request, gpu }: Plan): string {
  const sequences = request.concurrency === 1 ? '' : ` for ${request.concurrency} sequences`;
  const step = `${showBytes(limit.bytesPerStep)}${sequences} and ${showFlops(arithmetic.flopsPerDecodedToken)} a token`;
  const prefill = `${showFlops(arithmetic.prefillFlops)} for ${grouped(request.promptTokens)} tokens`;
  const rows = [
    [
      'Decode',
      step,
      limit.decodeTokensPerSecond === null ? 'unknown' : `at most ${rate(limit.decodeTokensPerSecond)}`,
    ],
    [
      'Prefill',
      prefill,
      limit.prefillTokensPerSecond === null ? 'unknown' : `at most ${rate(limit.prefillTokensPerSecond)}`,
    ],
    ['First token', 'as prefill', limit.ttftMs === null ? 'unknown' : `at least ${short(limit.ttftMs)} ms`],
  ];
  const unreachable = limit.unreachable.map((line) => `- **Cannot be met**: ${line}`);
  const device = gpu === undefined ? deviceNote(limit.device) : noteGpuRates(gpu, limit);
  const notes = [device, ...unreachable].join('\n');
  return `${table(['Physical limit', 'Work', 'Speed'], rows)}\n\n${notes}`;
}

function deviceNote({ bytesPerSecond, flopsPerSecond, source }: Plan['limit']['device']): string {
  if (bytesPerSecond === null && flopsPerSecond === null)
    return 'No rate of this device is known; verification measures bandwidth and FLOP rate.';
  const known = [
    bytesPerSecond === null ? [] : [`${short(bytesPerSecond / 1e9)} GB/s`],
    flopsPerSecond === null ? [] : [`${short(flopsPerSecond / 1e9)} GFLOP/s`],
  ].flat();
  return `With ${known.join(' and ')} (${source}).`;
}

/** Columns but the last are padded, so that the text reads as a table on a terminal too. */
function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  alignRight: readonly number[] = [],
): string {
  const cells = [head, ...rows.map((row) => row.map(cell))];
  const last = head.length - 1;
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((text, column) => pad(text, column === last ? 0 : widths[column]!, alignRight.includes(column))).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    alignRight.includes(column) ? `${'-'.repeat(width + 1)}:` : '-'.repeat(column === last ? 3 : width + 2),
  );
  return [line(head), `|${rule.join('|')}|`, ...cells.slice(1).map(line)].join('\n');
}

function pad(text: string, width: number, isRight: boolean): string {
  return isRight ? text.padStart(width) : text.padEnd(width);
}

function cell(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').replaceAll('|', '\\|');
}

function count(value: number, word: string): string {
  return `${value} ${word}${value === 1 ? '' : 's'}`;
}

function showCount(value: number): string {
  if (value >= 1e9) return `${(value / 1e9).toFixed(3)} G`;
  return value >= 1e6 ? `${(value / 1e6).toFixed(1)} M` : grouped(value);
}

function showFlops(value: number): string {
  if (value >= 1e12) return `${short(value / 1e12)} TFLOP`;
  return value >= 1e9 ? `${short(value / 1e9)} GFLOP` : `${short(value / 1e6)} MFLOP`;
}

function rate(value: number): string {
  return `${short(value)} tokens/s`;
}

function percent(part: number, whole: number): string {
  const value = (100 * part) / whole;
  return `${value >= 10 ? Math.round(value) : value.toPrecision(2)} %`;
}
