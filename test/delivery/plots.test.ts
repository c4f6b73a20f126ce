import { describe, expect, it } from 'vitest';
import { renderPlot } from '../../src/delivery/plots.ts';
import type { Benchmark } from '../../src/model/benchmark.ts';
import type { Report } from '../../src/model/report.ts';
import { sampleReport } from './sample-run.ts';

const benchmark = sampleReport.benchmark as Benchmark;

function withBenchmark(changes: Partial<Benchmark>): Report {
  return { ...sampleReport, benchmark: { ...benchmark, ...changes } };
}

/** Widths of the bars, in the order of the plot. */
function barWidths(svg: string): number[] {
  const bars = [
    ...svg.matchAll(/<path [^>]*d="M0,[\d.]+h([\d.]+)v[\d.]+h-[\d.]+Z" fill="#(?:0072b2|8c959f)"/g),
  ];
  return bars.map(([, width]) => Number(width));
}

describe('the plot of the speed', () => {
  it('draws engine and baseline to scale, with their figures and the share of the physical limit', async () => {
    const svg = (await renderPlot(sampleReport, 'speed'))!;
    expect(svg).toMatch(/^<svg /);
    for (const words of ['qwen3-0-6b', 'llama.cpp', '25.8 ± 0.4', '188 ± 4', '48 % of the 53.8'])
      expect(svg).toContain(words);
    const [engine, baseline] = barWidths(svg);
    const ratio = benchmark.engine.decode.avg_ts / benchmark.baseline!.decode.avg_ts;
    expect(engine! / baseline!).toBeCloseTo(ratio, 2);
    expect(barWidths(svg)).toHaveLength(4);
  });

  it('marks the physical limit only where it is near', async () => {
    expect(await renderPlot(sampleReport, 'speed')).toContain('stroke="#d55e00"');
    const far = benchmark.physics.map((check) => ({ ...check, limit_tokens_per_second: 1e6 }));
    expect(await renderPlot(withBenchmark({ physics: far }), 'speed')).not.toContain('stroke="#d55e00"');
  });

  it('draws an engine alone where no baseline ran', async () => {
    const svg = (await renderPlot(withBenchmark({ baseline: null, comparison: [] }), 'speed'))!;
    expect(barWidths(svg)).toHaveLength(2);
    expect(svg).not.toContain('llama.cpp');
  });

  it('shows a hostile name as text', async () => {
    const engine = { ...benchmark.engine, name: '<script>x</script>' };
    const svg = (await renderPlot(withBenchmark({ engine }), 'speed'))!;
    expect(svg).not.toContain('<script');
    expect(svg).toContain('&lt;script');
  });

  it('is not there for a report without a benchmark, or by another name', async () => {
    expect(await renderPlot({ ...sampleReport, benchmark: null }, 'speed')).toBeUndefined();
    expect(await renderPlot(sampleReport, 'memory')).toBeUndefined();
  });
});
