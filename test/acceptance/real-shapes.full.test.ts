import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Report } from '../../src/model/report.ts';
import type { RunState } from '../../src/model/run.ts';
import { CommandLine } from '../fixtures/command-line.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
const timeout = 1_800_000;

describe.each([
  { id: 'HuggingFaceTB/SmolLM2-135M', name: 'smollm2-135m', memory: '2GiB' },
  { id: 'Qwen/Qwen2.5-0.5B', name: 'qwen2-5-0-5b', memory: '4GiB' },
])('$id at its real shapes', ({ id, name, memory }) => {
  it('is built from synthetic weights, passes every gate and is measured', { timeout }, async () => {
    const file = join(cli.folder, `${name}.yaml`);
    writeConstraintFile(file, { name, model: { id }, memory, maxContext: 512, maxBatch: 1 });
    const { code, stdout } = await cli.run(['build', file, '-o', join(cli.folder, name), '--json']);
    const { report, run } = JSON.parse(stdout) as { run: RunState; report: Report };
    const findings = report.gates.flatMap((gate) =>
      gate.findings.map((one) => `${gate.gate}: ${one.message}`),
    );
    expect(findings).toEqual([]);
    expect([code, run.status]).toEqual([0, 'passed']);
    const measured = report.gates.find((gate) => gate.gate === 'logits')?.measurements;
    expect(measured?.max_abs).toBeLessThanOrEqual(1e-3);
    expect(measured?.mean_kld).toBeLessThanOrEqual(1e-6);
    expect(report.benchmark).not.toBeNull();
  });
});
