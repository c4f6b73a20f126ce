import type { Benchmark } from './benchmark.ts';
import type { Finding, GateResult } from './report.ts';

function finding(gate: 'bench' | 'physics', message: string, evidence: Finding['evidence'] = {}): Finding {
  return { gate, contract: null, file: null, line: null, message, evidence };
}

type Outcome = Pick<GateResult, 'status' | 'reason' | 'findings' | 'measurements'>;

function outcome(findings: Finding[], measurements: GateResult['measurements']): Outcome {
  return { status: findings.length === 0 ? 'passed' : 'failed', reason: null, findings, measurements };
}

function benchOutcome(benchmark: Benchmark): Outcome {
  const { engine, conditions } = benchmark;
  const ratios = benchmark.comparison.map(({ metric, ratio }) => [`${metric}_ratio`, ratio] as const);
  return outcome(
    engine.integrity.map((message) => finding('bench', message)),
    {
      prefill_tokens_per_second: engine.prefill.avg_ts,
      decode_tokens_per_second: engine.decode.avg_ts,
      peak_memory_bytes: engine.peak_memory_bytes,
      pct_of_measured_bw: engine.pct_of_measured_bw,
      pct_of_measured_flops: engine.pct_of_measured_flops,
      foreign_cpu_share: conditions.foreign_cpu_share,
      ...Object.fromEntries(ratios),
    },
  );
}

function physicsOutcome(benchmark: Benchmark): Outcome {
  if (benchmark.physics.length === 0) {
    const reason = 'the rates of this machine were not measured';
    return { status: 'skipped', reason, findings: [], measurements: {} };
  }
  const rejected = benchmark.physics.filter((check) => check.rejected);
  const findings = rejected.map((check) => {
    const {
      what,
      bound,
      measured_tokens_per_second: measured,
      limit_tokens_per_second: limit,
      margin,
    } = check;
    const message = `${what} at ${measured.toFixed(1)} tokens/s is more than ${margin} times the ${limit.toFixed(1)} that the measured ${bound} allows`;
    return finding('physics', message, { what, bound, measured, limit, margin });
  });
  return outcome(
    findings,
    Object.fromEntries(
      benchmark.physics.map((check) => [`${check.what}_${check.bound}_limit`, check.limit_tokens_per_second]),
    ),
  );
}

/** The results of the gates `bench` and `physics`, without their time. */
export function benchmarkGates(benchmark: Benchmark): { bench: Outcome; physics: Outcome } {
  return { bench: benchOutcome(benchmark), physics: physicsOutcome(benchmark) };
}
