import { codeSpan, inlineText } from '../../model/escape-text.ts';
import type { AblationReport, CellReport, Comparison } from './ablation-report.ts';
import { figures } from './figures.ts';
import { showSpread } from './show-figure.ts';

/** report.md: one section per constraint file, each with the notice, since a section may be read by itself. */
export function renderAblation(report: AblationReport): string {
  const { plan } = report;
  return [
    '# What the mode of generation changes',
    ...notice(report),
    describeRun(report),
    ...plan.files.map(({ name }) => fileSection(report, name)),
    ...(report.basis === 'real-model' ? [howToRead(report)] : []),
    meaningsSection(report),
    runsSection(report),
  ]
    .join('\n\n')
    .concat('\n');
}

function notice({ notice: text }: AblationReport): string[] {
  return text === null ? [] : [`> **${text}**`];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** The first column to the left, figures to the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), row(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(row)].join(
    '\n',
  );
}

function describeRun({ plan, finished, planned }: AblationReport): string {
  const { model } = plan;
  const stated = Object.entries(model.settings).filter(([, value]) => value !== null);
  const settings = stated.map(([key, value]) => `${key} ${codeSpan(String(value), 'cell')}`);
  const models = Object.entries(model.models).map(([role, name]) => `${role} ${codeSpan(name, 'cell')}`);
  const rows = [
    ['Runs finished', `${finished} of ${planned}${finished < planned ? ' (the rest is still to come)' : ''}`],
    ['Modes', plan.modes.join(', ')],
    ['Repeats', String(plan.repeats)],
    ['Endpoint', codeSpan(model.endpoint, 'cell')],
    ['Models', models.join(', ')],
    ['Settings', settings.join(', ')],
    ['Knowledge', codeSpan(plan.knowledgeSha256.slice(0, 12), 'cell')],
    ['Program', codeSpan(plan.programVersion, 'cell')],
  ];
  return [row(['', '']), row(['---', '---']), ...rows.map(row)].join('\n');
}

function sourcesText({ plan }: AblationReport, name: string): string[] {
  const sources = plan.files.find((file) => file.name === name)!.sources;
  if (sources.length === 0 || !plan.modes.includes('source-reference')) return [];
  const shown = sources.map(({ path, sha256 }) => `${codeSpan(path)} (${sha256.slice(0, 12)})`);
  return [`Shown to the agents in source-reference: ${shown.join(', ')}.`];
}

function fileSection(report: AblationReport, file: string): string {
  const cells = report.cells.filter((cell) => cell.file === file);
  const drawn = cells.some((cell) => cell.finished > 0);
  const caption =
    report.basis === 'real-model' ? 'Figures of each run by mode' : 'Model calls of each run by mode';
  return [
    `## ${file}`,
    ...notice(report),
    ...(drawn ? [`![${caption}: bar is the median, line the range, dots the runs](${file}.svg)`] : []),
    ...sourcesText(report, file),
    figureTable(report, cells),
    ...rejectionTable(cells),
    ...comparisonPart(report, file),
  ].join('\n\n');
}

function figureTable(report: AblationReport, cells: readonly CellReport[]): string {
  const shown = report.meanings.flatMap(({ key }) => figures.filter((figure) => figure.key === key));
  const hasAny = (key: string): boolean => cells.some((cell) => (cell.figures[key]?.high ?? 0) > 0);
  // Zero everywhere says something of attempts and nothing of what an endpoint doesn't do or report.
  const kept = shown.filter(({ key }) => !['cachedTokens', 'unreportedTokens'].includes(key) || hasAny(key));
  const rows = kept
    .filter(({ key }) => cells.some((cell) => cell.figures[key] !== undefined))
    .map(({ key, title, unit }) => [title, ...cells.map((cell) => showCell(cell.figures[key], unit))]);
  const roles = [...new Set(cells.flatMap(({ callsByRole }) => Object.keys(callsByRole)))].filter((role) =>
    cells.some(({ callsByRole }) => (callsByRole[role]?.high ?? 0) > 0),
  );
  const byRole = roles.map((role) => [
    `Calls of the ${role}`,
    ...cells.map(({ callsByRole }) => showCell(callsByRole[role], 'count')),
  ]);
  const perPass = cells.some(({ tokensPerPass }) => tokensPerPass !== null)
    ? [['Tokens of all runs per engine that passed', ...cells.map(showPerPass)]]
    : [];
  return [
    'Median (range) over the runs of a mode.',
    table(
      ['', ...cells.map(({ mode }) => mode)],
      [['Runs that passed', ...cells.map(showPassed)], ...rows, ...byRole, ...perPass],
    ),
  ].join('\n\n');
}

function showCell(
  spread: CellReport['figures'][string] | undefined,
  unit: (typeof figures)[number]['unit'],
): string {
  return spread === undefined ? '–' : showSpread(spread, unit);
}

function showPassed({ passed, finished, interrupted }: CellReport): string {
  const note = interrupted === 0 ? '' : `, ${interrupted} interrupted`;
  return `${passed} of ${finished}${note}`;
}

function showPerPass({ tokensPerPass }: CellReport): string {
  if (tokensPerPass === null) return '–';
  return showSpread({ n: 1, median: Math.round(tokensPerPass), low: 0, high: 0, values: [] }, 'count');
}

function rejectionTable(cells: readonly CellReport[]): string[] {
  const sources = [...new Set(cells.flatMap(({ rejections }) => Object.keys(rejections)))].sort();
  if (sources.length === 0) return [];
  const rows = sources.map((source) => [
    source,
    ...cells.map(({ rejections, finished }) =>
      finished === 0
        ? '–'
        : showCell(rejections[source] ?? { n: finished, median: 0, low: 0, high: 0, values: [] }, 'count'),
    ),
  ]);
  return [
    'Texts rejected in a run, by what rejected them:',
    table(['', ...cells.map(({ mode }) => mode)], rows),
  ];
}

function comparisonPart({ comparisons, withheld, base }: AblationReport, file: string): string[] {
  const own = comparisons.filter((comparison) => comparison.file === file);
  const notes = withheld
    .filter((line) => line.startsWith(`${file}: `))
    .map((line) => `- ${inlineText(line)}`);
  const listed = notes.length === 0 ? [] : [notes.join('\n')];
  if (own.length === 0) return listed;
  const rows = own.map((each) => [
    titleOf(each.figure),
    each.mode,
    each.ratio.toFixed(2),
    showInterval(each),
    each.says,
  ]);
  return [
    `Against ${base} (1 = the same, below 1 = less):`,
    table(['', 'mode', 'ratio', '95 % interval', 'reading'], rows),
    ...listed,
  ];
}

function titleOf(key: string): string {
  return figures.find((figure) => figure.key === key)!.title;
}

function showInterval({ interval }: Comparison): string {
  return interval === null ? '–' : `${interval[0].toFixed(2)} to ${interval[1].toFixed(2)}`;
}

function howToRead({ comparisons, plan }: AblationReport): string {
  const isFew = comparisons.some(({ says }) => says === 'too few runs');
  const isCold = plan.model.settings.temperature === 0;
  return [
    '## How to read the comparisons',
    [
      '- The ratio is the median of all quotients of a run of one mode by a run of the other; the interval is exact and assumes no distribution (Mann-Whitney). Where it holds 1, the runs show no difference.',
      `- Each interval holds at 95 % by itself: where nothing differs, one comparison in twenty still leaves out 1 by chance, and there are ${comparisons.length} here.`,
      '- The runs speak for these files, this model, these settings and this knowledge, not for others.',
      ...(isFew ? ['- Below four runs a mode no interval of 95 % exists, and nothing is said.'] : []),
      ...(isCold
        ? [
            '- The temperature is 0: the spread shows only what the endpoint itself varies, and less than the model would.',
          ]
        : []),
    ].join('\n'),
  ].join('\n\n');
}

function meaningsSection({ meanings }: AblationReport): string {
  const lines = meanings.map(({ title, meaning }) => `- **${title}.** ${meaning}`);
  return ['## What the figures mean', lines.join('\n')].join('\n\n');
}

function runsSection({ basis, runs }: AblationReport): string {
  const isReal = basis === 'real-model';
  const rows = runs.map(({ file, mode, repeat, end, reason, seconds, sittings, calls }) => [
    file,
    mode,
    String(repeat),
    reason === null ? end : `${end}: ${inlineText(reason, 120)}`,
    String(calls),
    ...(seconds === undefined
      ? []
      : [`${seconds.toFixed(1)} s${sittings > 1 ? ` in ${sittings} sittings` : ''}`]),
  ]);
  const head = ['file', 'mode', 'repeat', 'end', 'calls', ...(isReal ? ['wall time'] : [])];
  return ['## Runs', rows.length === 0 ? 'None is finished yet.' : table(head, rows)].join('\n\n');
}
