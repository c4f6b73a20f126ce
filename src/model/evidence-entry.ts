import { createHash } from 'node:crypto';
import type { Constraints } from './constraints.ts';
import type { Contract, Evidence } from './contract.ts';
import type { Report } from './report.ts';

const shownFigures: readonly (readonly [gate: string, figure: string])[] = [
  ['logits', 'max_abs'],
  ['logits', 'mean_kld'],
  ['trace', 'last_nmse'],
  ['unit', 'cases'],
  ['bench', 'decode_tokens_per_second'],
  ['bench', 'prefill_tokens_per_second'],
  ['bench', 'pct_of_measured_bw'],
  ['bench', 'decode_tokens_per_second_ratio'],
];

function figuresOf(report: Report): Record<string, number> {
  const entries = shownFigures.flatMap(([gate, figure]) => {
    const value = report.gates.find((result) => result.gate === gate)?.measurements[figure];
    return typeof value === 'number' ? [[figure, Number(value.toPrecision(4))] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** A report as knowledge/reports keeps it. */
export interface KeptReport {
  /** Below knowledge/. */
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
}

export function keepReport(report: Report): KeptReport {
  const text = `${JSON.stringify(report, null, 2)}\n`;
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { path: `reports/${report.engine.name}-${sha256.slice(0, 16)}.json`, text, sha256 };
}

/** An entry of evidence.yaml: what the report shows of one realization in the engine that it is about. */
export function makeEvidence(
  contract: Contract,
  realization: { readonly file: string; readonly sha256: string },
  run: { readonly constraints: Constraints; readonly report: Report; readonly reportSha256: string },
): Evidence {
  const { report, constraints } = run;
  const { platform, arch, threads } = constraints.hardware;
  return {
    realization: realization.file,
    report: `sha256:${run.reportSha256}`,
    repeat: `npx metainfer verify engines/${report.engine.name} --seed ${report.inputs.runSeed}`,
    applies: {
      'hardware.platform': platform,
      'hardware.arch': arch,
      'numerics.weights': constraints.numerics.weights,
    },
    device: { cpu: report.environment.cpu, threads },
    toolchain: report.environment.compiler,
    hashes: {
      contract: contract.sha256,
      realization: realization.sha256,
      gate: contract.gateSha256 ?? contract.sha256,
    },
    figures: figuresOf(report),
    date: report.startedAt.slice(0, 10),
  };
}
