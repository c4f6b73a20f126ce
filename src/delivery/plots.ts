import type { Spec } from 'vega';
import type { Benchmark } from '../model/benchmark.ts';
import { shorten } from '../model/escape-text.ts';
import type { Report } from '../model/report.ts';
import { short } from '../model/show-number.ts';
import { benchmarkOf, physicalLimit, showShare, showSpread } from './goals.ts';
import { colours, engineMarks, legendMark, limitMark, type Mark } from './speed-marks.ts';

const width = 660;
const left = 130;
const right = 125;
const plotWidth = width - left - right;
const rowHeight = 34;
const panelGap = 62;
/** Single runs shown as dots; more are a smear. */
const mostDots = 120;

interface Bar {
  readonly name: string;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly label: string;
  readonly isEngine: boolean;
}

/**
 * The plot `speed` of a report as an SVG text: decode and prefill of the engine and its baseline, each run as a dot, the
 * mean as a bar with its standard deviation, and the physical limit where it is near. Undefined without a benchmark.
 */
export async function renderPlot(report: Report, name: string): Promise<string | undefined> {
  const benchmark = benchmarkOf(report);
  if (name !== 'speed' || benchmark === null) return undefined;
  // Vega is large, and most processes draw nothing.
  const vega = await import('vega');
  const view = new vega.View(vega.parse(speedPlot(benchmark)), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  return svg;
}

function speedPlot(benchmark: Benchmark): Spec {
  const rows = benchmark.baseline === null ? 1 : 2;
  const panelHeight = rows * rowHeight;
  return {
    width,
    height: 2 * panelHeight + panelGap + 66,
    padding: 12,
    autosize: 'none',
    background: '#ffffff',
    config: { axis: { labelFont: 'sans-serif', titleFont: 'sans-serif' }, text: { font: 'sans-serif' } },
    marks: [
      panel('decode', 'Decode', benchmark, 20),
      panel('prefill', 'Prefill', benchmark, 20 + panelHeight + panelGap),
      legendMark(2 * panelHeight + panelGap + 60),
    ],
  };
}

function toBar(engine: Benchmark['engine'], what: 'decode' | 'prefill', isEngine: boolean): Bar {
  const { avg_ts: mean, stddev_ts: deviation } = engine[what];
  return {
    name: shorten(engine.name, 22),
    mean,
    low: Math.max(0, mean - deviation),
    high: mean + deviation,
    label: showSpread(mean, deviation),
    isEngine,
  };
}

/** One kind of work with its own scale: prefill is an order of magnitude faster than decode. */
function panel(what: 'decode' | 'prefill', title: string, benchmark: Benchmark, y: number): Mark {
  const { engine, baseline } = benchmark;
  const bars = [toBar(engine, what, true), ...(baseline === null ? [] : [toBar(baseline, what, false)])];
  const dots = [engine, ...(baseline === null ? [] : [baseline])].flatMap((each) =>
    each[what].samples_ts.slice(0, mostDots).map((value) => ({ name: shorten(each.name, 22), value })),
  );
  const limit = physicalLimit(what, benchmark);
  const most = Math.max(...bars.map((bar) => bar.high), ...dots.map((dot) => dot.value));
  // A limit far off would press the bars against the axis; its share stands in the title instead.
  const isNear = limit !== null && limit < 4 * most;
  const height = bars.length * rowHeight;
  const names = bars.map((bar) => bar.name);
  return {
    type: 'group',
    encode: {
      enter: {
        x: { value: left },
        y: { value: y },
        width: { value: plotWidth },
        height: { value: height },
      },
    },
    title: panelTitle(`${title}, tokens/s (${shorten(engine[what].test, 12)})`, engine[what].avg_ts, limit),
    data: [
      { name: 'bars', values: bars },
      { name: 'dots', values: dots },
    ],
    scales: panelScales(isNear ? Math.max(most, limit) : most, names, height),
    axes: panelAxes,
    marks: [...engineMarks(plotWidth + right), ...(isNear ? [limitMark(limit)] : [])],
  };
}

function panelTitle(title: string, speed: number, limit: number | null): NonNullable<Spec['title']> {
  const share =
    limit === null ? '' : `, ${showShare(speed, limit)} of the ${short(limit)} that this machine allows`;
  return {
    text: `${title}${share}`,
    anchor: 'start',
    frame: 'group',
    font: 'sans-serif',
    fontSize: 13,
    color: colours.text,
    offset: 6,
  };
}

function panelScales(most: number, names: string[], height: number): NonNullable<Spec['scales']> {
  return [
    { name: 'x', type: 'linear', domain: [0, most], range: [0, plotWidth], nice: true },
    { name: 'y', type: 'band', domain: names, range: [0, height], padding: 0.25 },
  ];
}

const panelAxes: NonNullable<Spec['axes']> = [
  {
    scale: 'x',
    orient: 'bottom',
    tickCount: 6,
    grid: true,
    gridScale: 'y',
    gridColor: '#eaeef2',
    labelColor: colours.faint,
    domain: false,
    ticks: false,
    format: ',.4~r',
  },
  {
    scale: 'y',
    orient: 'left',
    labelFontSize: 12,
    labelColor: colours.text,
    domain: false,
    ticks: false,
    labelPadding: 8,
    labelLimit: left,
  },
];
