import type { Spec } from 'vega';

export type Mark = NonNullable<Spec['marks']>[number];

/** Okabe-Ito: told apart by every kind of eye, and in print. */
export const colours = {
  engine: '#0072b2',
  baseline: '#8c959f',
  limit: '#d55e00',
  text: '#1f2328',
  faint: '#59636e',
};

const middle = { scale: 'y', field: 'name', band: 0.5 };

/** Bar, single runs, standard deviation and figures of each engine, over the data sets `bars` and `dots`. */
export function engineMarks(labelRight: number): Mark[] {
  return [meanBars(), runDots(), deviationLines(), figureLabels(labelRight)];
}

function meanBars(): Mark {
  return {
    type: 'rect',
    from: { data: 'bars' },
    encode: {
      enter: {
        x: { scale: 'x', value: 0 },
        x2: { scale: 'x', field: 'mean' },
        y: { scale: 'y', field: 'name' },
        height: { scale: 'y', band: 1 },
        fill: [{ test: 'datum.isEngine', value: colours.engine }, { value: colours.baseline }],
        fillOpacity: { value: 0.75 },
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
        size: { value: 14 },
        fill: { value: colours.text },
        fillOpacity: { value: 0.3 },
      },
    },
  };
}

function deviationLines(): Mark {
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

function figureLabels(right: number): Mark {
  return {
    type: 'text',
    from: { data: 'bars' },
    encode: {
      enter: {
        x: { value: right },
        y: middle,
        text: { field: 'label' },
        fill: { value: colours.text },
        align: { value: 'right' },
        fontSize: { value: 12 },
        baseline: { value: 'middle' },
      },
    },
  };
}

/** The physical limit as a dashed line across the panel. */
export function limitMark(limit: number): Mark {
  return {
    type: 'rule',
    encode: {
      enter: {
        x: { scale: 'x', value: limit },
        y: { value: -4 },
        y2: { field: { group: 'height' } },
        stroke: { value: colours.limit },
        strokeWidth: { value: 2 },
        strokeDash: { value: [5, 3] },
      },
    },
  };
}

/** What the marks mean, under the plot. */
export function legendMark(y: number): Mark {
  const text =
    'bar: mean · black line: ± standard deviation · dot: one run · dashed: limit of this machine, where near';
  return {
    type: 'text',
    encode: {
      enter: {
        x: { value: 0 },
        y: { value: y },
        text: { value: text },
        fill: { value: colours.faint },
        fontSize: { value: 11 },
      },
    },
  };
}
