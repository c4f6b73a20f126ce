import { expect, it } from 'vitest';
import { verdictText } from '../../src/cli/verdict-text.ts';
import { verdictExitCode } from '../../src/model/show-verdict.ts';
import { report } from '../adapters/runner/sample-artifact.ts';
import { unrunReport } from '../fixtures/unrun-report.ts';

it('a report without a device ends with the words, what was checked where, and what was not', () => {
  const text = verdictText(unrunReport(report));
  expect(text.slice(text.indexOf('Verdict: ')).split('\n')).toEqual([
    'Verdict: not run on a device',
    '- Checked on the host: static, build.',
    '- Checked in host emulation (arithmetic only): unit.',
    '- Not checked, because it takes a device: ledger, trace, logits, edges, equivalence, text, determinism, bench, physics.',
    '- Goals not measured: fidelity.mean_kld <= 0.000001; fidelity.top1_agreement >= 0.99; decode_tokens_per_second >= 0.7x llama.cpp.',
  ]);
  expect(verdictText(report)).not.toContain('Verdict: ');
});

it('only a pass has the exit code 0', () => {
  expect([
    verdictExitCode('passed'),
    verdictExitCode('failed'),
    verdictExitCode('not-run-on-device'),
  ]).toEqual([0, 1, 5]);
});
