import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '../../src/model/report.ts';
import { knowledgeRoot } from '../../src/preparation/knowledge-base.ts';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { hashEngineTree } from '../../src/verification/engine-tree.ts';
import { CommandLine } from '../fixtures/command-line.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
const measured = JSON.parse(
  readFileSync(new URL('../fixtures/reports/tiny-qwen3.json', import.meta.url), 'utf8'),
) as Report;

describe('a report that somebody wrote by hand', () => {
  const folder = join(cli.folder, 'engine');
  let honest: Report;

  beforeAll(async () => {
    const example = join(packageRoot(), 'knowledge/examples/tiny-qwen3.yaml');
    const { code, stdout } = await cli.run(['generate', example, '-o', folder, '--json']);
    expect(code, stdout).toBe(0);
    const engine = { ...measured.engine, treeSha256: hashEngineTree(folder) };
    honest = { ...measured, engine };
  });

  const forgeries: readonly (readonly [string, (report: Report) => Report, RegExp])[] = [
    ['of other weights', (report) => withWeights(report, '0'.repeat(64)), /about other weights/],
    [
      'that says passed beside a failed gate',
      (report) => withGate(report, 'unit', { status: 'failed', reason: null }),
      /unit of report\.json failed without a finding/,
    ],
    [
      'that leaves a gate out',
      (report) => ({ ...report, gates: report.gates.filter(({ gate }) => gate !== 'edges') }),
      /without gate edges/,
    ],
    ['with an empty benchmark', (report) => ({ ...report, benchmark: {} }), /benchmark .* breaks its schema/],
    [
      'with a speed that its benchmark does not give',
      (report) => withGate(report, 'bench', { measurements: { decode_tokens_per_second: 1e9 } }),
      /bench of report\.json says/,
    ],
    [
      'whose gates ran in emulation',
      (report) => withGate(report, 'unit', { ranOn: 'emulation' }),
      /not-run-on-device|about a device/,
    ],
  ];

  it.each(forgeries)('%s is no evidence', async (_name, forge, reason) => {
    const before = readFileSync(join(knowledgeRoot(), 'contracts/norm-rms/evidence.yaml'), 'utf8');
    writeFileSync(join(folder, 'report.json'), JSON.stringify(forge(honest)));
    const { code, stderr } = await cli.run(['knowledge', 'evidence', folder]);
    expect(stderr).toMatch(reason);
    expect(code).toBe(2);
    expect(readFileSync(join(knowledgeRoot(), 'contracts/norm-rms/evidence.yaml'), 'utf8')).toBe(before);
  });

  function withWeights(report: Report, sha256: string): Report {
    return { ...report, inputs: { ...report.inputs, weights: { ...report.inputs.weights, sha256 } } };
  }

  function withGate(report: Report, name: string, change: Partial<Report['gates'][number]>): Report {
    const gates = report.gates.map((gate) => (gate.gate === name ? { ...gate, ...change } : gate));
    return { ...report, gates };
  }
});
