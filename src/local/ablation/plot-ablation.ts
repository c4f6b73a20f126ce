import type { Spec } from 'vega';
import { shorten } from '../../model/escape-text.ts';
import type { AblationReport, CellReport } from './ablation-report.ts';
import { type Figure, figures } from './figures.ts';
import { showSpread } from './show-figure.ts';

type Mark = NonNullable<Spec['marks']>[number];

const width = 760;
const left = 130;
const right = 210;
const plotWidth = width - left - right;
const rowHeight = 24;
const panelGap = 58;
const headHeight = 62;
const footHeight = 34;
const colours = { bar: '#0072b2', text: '#1f2328', faint: '#59636e', warning: '#b35900', grid: '#eaeef2' };

/** In the order of the plot; what a report lacks is left out. */
const drawn = [
  'seconds',
  'calls',
  'tokens',
  'attemptsPerContract',
  'firstPass',
  'repairCalls',
  'sourceShare',
];

/**
 * The figures of one constraint file as an SVG text: a panel for each figure with one row per mode, median as a bar,
 * range as a line, every run as a dot. Without a real model it holds the call counts alone and says so.
 */
export async function plotAblation(report: AblationReport, file: string): Promise<string> {
  // Vega is large, and most processes draw nothing.
  const vega = await import('vega');
  const view = new vega.View(vega.parse(ablationPlot(report, file)), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  return svg;
}

function ablationPlot(report: AblationReport, file: string): Spec {
  const cells = report.cells.filter((cell) => cell.file === file && cell.finished > 0);
  const shown = drawn.flatMap((key) =>
    figures.filter(
      (figure) =>
        figure.key === key &&
        report.meanings.some((meaning) => meaning.key === key) &&
        cells.some((cell) => cell.figures[key] !== undefined),
    ),
  );
  const step = cells.length * rowHeight + panelGap;
  const height = headHeight + shown.length * step + footHeight;
  const passed = cells.map((cell) => `${cell.mode} ${cell.passed} of ${cell.finished}`).join(', ');
  return {
    width,
    height,
    padding: 12,
    autosize: 'none',
    background: '#ffffff',
    config: { axis: { labelFont: 'sans-serif' }, text: { font: 'sans-serif' } },
    marks: [
      line(0, 12, shorten(`${file}: ${modelNames(report)}`, 100), { fontSize: 14, fill: colours.text }),
      line(0, 32, headLine(report), {
        fontSize: 11,
        fill: report.notice === null ? colours.faint : colours.warning,
      }),
      ...shown.map((figure, index) => panel(figure, cells, headHeight + index * step)),
      line(0, height - 22, `runs that passed: ${passed}`, { fontSize: 11, fill: colours.faint }),
      line(0, height - 6, 'bar: median · black line: range · dot: one run', {
        fontSize: 11,
        fill: colours.faint,
      }),
    ],
  };
}

function modelNames({ plan }: AblationReport): string {
  return [...new Set(Object.values(plan.model.models))].join(', ');
}

function headLine({ basis, finished, planned }: AblationReport): string {
  if (basis === 'no-real-model')
    return 'No real model took part: call counts only; no rate and no saving can be derived.';
  if (basis === 'no-model-asked')
    return 'No model was asked: call counts only; no rate and no saving can be derived.';
  return `${finished} of ${planned} runs finished`;
}

function line(x: number, y: number, text: string, style: { fontSize: number; fill: string }): Mark {
  return {
    type: 'text',
    encode: {
      enter: {
        x: { value: x },
        y: { value: y },
        text: { value: text },
        fontSize: { value: style.fontSize },
        fill: { value: style.fill },
      },
    },
  };
}

function panel(figure: Figure, cells: readonly CellReport[], y: number): Mark {
  const rows = cells.map(({ mode, figures: own }) => ({ mode, spread: own[figure.key] }));
  const bars = rows.flatMap(({ mode, spread }) =>
    spread === undefined
      ? []
      : [
          {
            mode,
            median: spread.median,
            low: spread.low,
            high: spread.high,
            label: showSpread(spread, figure.unit),
          },
        ],
  );
  const dots = rows.flatMap(({ mode, spread }) => (spread?.values ?? []).map((value) => ({ mode, value })));
  const most = figure.unit === 'share' ? 1 : Math.max(...bars.map(({ high }) => high));
  const height = rows.length * rowHeight;
  return {
    type: 'group',
    encode: {
      enter: { x: { value: left }, y: { value: y }, width: { value: plotWidth }, height: { value: height } },
    },
    title: {
      text: figure.unit === 's' ? `${figure.title}, seconds` : figure.title,
      anchor: 'start',
      frame: 'group',
      font: 'sans-serif',
      fontSize: 13,
      color: colours.text,
      offset: 6,
    },
    data: [
      { name: 'bars', values: bars },
      { name: 'dots', values: dots },
    ],
    scales: [
      // A figure that is 0 in every run still needs a scale.
      { name: 'x', type: 'linear', domain: [0, most > 0 ? most : 1], range: [0, plotWidth], nice: true },
      { name: 'y', type: 'band', domain: rows.map(({ mode }) => mode), range: [0, height], padding: 0.25 },
    ],
    axes: panelAxes(figure),
    marks: [medianBars(), rangeLines(), runDots(), labels()],
  };
}

function panelAxes({ unit }: Figure): NonNullable<Spec['axes']> {
  return [
    {
      scale: 'x',
      orient: 'bottom',
      tickCount: 5,
      grid: true,
      gridScale: 'y',
      gridColor: colours.grid,
      labelColor: colours.faint,
      domain: false,
      ticks: false,
      format: unit === 'share' ? '.0%' : ',.4~r',
    },
    {
      scale: 'y',
      orient: 'left',
      labelFontSize: 12,
      labelColor: colours.text,
      domain: false,
      ticks: false,
      labelPadding: 8,
      // Without a canvas Vega overestimates the width of text; names of modes are short.
      labelLimit: 0,
    },
  ];
}

const middle = { scale: 'y', field: 'mode', band: 0.5 };

function medianBars(): Mark {
  return {
    type: 'rect',
    from: { data: 'bars' },
    encode: {
      enter: {
        x: { scale: 'x', value: 0 },
        x2: { scale: 'x', field: 'median' },
        y: { scale: 'y', field: 'mode' },
        height: { scale: 'y', band: 1 },
        fill: { value: colours.bar },
        fillOpacity: { value: 0.6 },
      },
    },
  };
}

function rangeLines(): Mark {
  return {
    type: 'rule',
    from: { data: 'bars' },
    encode: {
      enter: {
        x: { scale: 'x', field: 'low' },
        x2: { scale: 'x', field: 'high' },
        y: middle,
        stroke: { value: colours.text },
        strokeWidth: { value: 2 },
      },
    },
  };
}

function runDots(): Mark {
  return {
    type: 'symbol',
    from: { data: 'dots' },
    encode: {
      enter: {
        x: { scale: 'x', field: 'value' },
        y: middle,
        size: { value: 26 },
        fill: { value: colours.text },
        fillOpacity: { value: 0.45 },
      },
    },
  };
}

function labels(): Mark {
  return {
    type: 'text',
    from: { data: 'bars' },
    encode: {
      enter: {
        x: { value: plotWidth + 12 },
        y: middle,
        text: { field: 'label' },
        fill: { value: colours.text },
        fontSize: { value: 11 },
        baseline: { value: 'middle' },
      },
    },
  };
}
