import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ExpectedArtifact, readArtifact } from '../../../src/adapters/runner/read-artifact.ts';
import { Report } from '../../../src/model/report.ts';
import type { RunnerResult } from '../../../src/model/result.ts';
import { packageRoot } from '../../../src/preparation/package-root.ts';
import { type CraftedEntry, craftZip } from './craft-zip.ts';

/** A report of a real run. */
export const report = Report.parse(
  JSON.parse(readFileSync(join(packageRoot(), 'test/fixtures/reports/tiny-qwen3.json'), 'utf8')),
);
export const expected: ExpectedArtifact = {
  requestId: 'run-0123-1',
  engineCommit: 'a'.repeat(40),
  constraintsSha256: report.inputs.constraintsSha256,
  treeSha256: report.engine.treeSha256,
  goals: [
    {
      ...{ metric: 'decode_tokens_per_second', comparison: '>=', value: 0.7, unit: 'x' },
      ...{ baseline: 'llama.cpp', written: '>= 0.7x llama.cpp' },
    },
  ],
  platform: 'cpu-x86_64',
  fidelity: { mean_kld: 1e-6, top1_agreement: 0.99 },
};
export const judged: RunnerResult = {
  schema: 'metainfer/result/v1',
  requestId: expected.requestId,
  engineCommit: expected.engineCommit,
  constraintsSha256: expected.constraintsSha256,
  treeSha256: expected.treeSha256,
  outcome: 'judged',
  failure: null,
  harness: { version: '0.1.0', commit: null },
  runner: { name: 'runner-1', labels: ['self-hosted'] },
};
export const refused: RunnerResult = {
  ...judged,
  outcome: 'refused',
  failure: { code: 'CHECKPOINT_INVALID', message: 'No weights here.' },
};

export const json = (name: string, value: unknown): CraftedEntry => ({ name, data: JSON.stringify(value) });
export const good = [
  json('result.json', judged),
  json('report.json', report),
  { name: 'log.txt', data: 'static passed\n' },
];

/** Why the artifact is refused, or `accepted`. */
export async function reasonOf(entries: readonly CraftedEntry[]): Promise<string> {
  const read = await readArtifact(craftZip(entries), expected);
  return read.ok ? 'accepted' : read.reason;
}

export const withReport = (changes: object): CraftedEntry[] => [
  json('result.json', judged),
  json('report.json', { ...report, ...changes }),
];
export const withResult = (changes: object): CraftedEntry[] => [
  json('result.json', { ...judged, ...changes }),
  json('report.json', report),
];
