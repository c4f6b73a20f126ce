import { sha256Of } from '../../../src/knowledge/read-tree.ts';
import { Report } from '../../../src/model/report.ts';
import type { BadChange } from './bad-contracts.ts';
import { type Edits, edit, keptReport, textOf, withEvidence } from './change-world.ts';

const normEvidence = 'contracts/norm-rms/evidence.yaml';

/** A copy of the kept report with changes, under the name that its hash asks for, and evidence that cites it. */
function forgedReport(change: (report: Report) => Report): Edits {
  const text = `${JSON.stringify(change(Report.parse(JSON.parse(textOf(keptReport)))), null, 2)}\n`;
  const sha256 = sha256Of(text);
  const report = Report.parse(JSON.parse(text));
  return {
    [`reports/tiny-qwen3-${sha256.slice(0, 16)}.json`]: text,
    ...withEvidence(() => undefined, report, sha256),
  };
}

const failedGate = (report: Report): Report => ({
  ...report,
  gates: report.gates.map((gate) => (gate.gate === 'unit' ? { ...gate, status: 'failed' } : gate)),
});
const failed = forgedReport((report) => ({ ...failedGate(report), verdict: 'failed' }));
const contradicting = forgedReport(failedGate);
const reportOf = (edits: Edits): string => Object.keys(edits).find((path) => path.startsWith('reports/'))!;

/** Forged, stale and missing evidence. */
export const badEvidence: readonly BadChange[] = [
  {
    what: 'evidence without its report',
    edits: withEvidence((entry) => {
      entry.report = `sha256:${'ab'.repeat(32)}`;
    }),
    file: normEvidence,
    line: 'abababab',
    says: /no file of knowledge\/reports has the hash abababab/,
  },
  {
    what: 'a figure that is better than the report says',
    edits: withEvidence((entry) => {
      entry.figures = { ...(entry.figures as object), decode_tokens_per_second: 9999 };
    }),
    file: normEvidence,
    line: 'decode_tokens_per_second: 9999',
    says: /the report says \d+, this entry 9999/,
  },
  {
    what: 'a figure that the report does not hold',
    edits: withEvidence((entry) => {
      entry.figures = { ...(entry.figures as object), speedup: 2 };
    }),
    file: normEvidence,
    line: 'speedup: 2',
    says: /holds no figure speedup/,
  },
  {
    what: 'evidence from another machine than the report',
    edits: withEvidence((entry) => {
      entry.device = { cpu: 'AMD EPYC 9965', threads: 2 };
    }),
    file: normEvidence,
    line: 'cpu: AMD EPYC 9965',
    says: /the report says "AMD EPYC", this entry "AMD EPYC 9965"/,
  },
  {
    what: 'evidence with another date',
    edits: withEvidence((entry) => {
      entry.date = '2027-01-01';
    }),
    file: normEvidence,
    line: '2027-01-01',
    says: /this entry "2027-01-01"/,
  },
  {
    what: 'a command that repeats something else',
    edits: withEvidence((entry) => {
      entry.repeat = 'npx metainfer verify engines/tiny-qwen3 --seed 1';
    }),
    file: normEvidence,
    line: '--seed 1',
    says: /the report says "npx metainfer verify/,
  },
  {
    what: 'evidence for vectors that the engine was compiled without',
    edits: withEvidence((entry) => {
      entry.applies = { ...(entry.applies as object), 'hardware.arch': 'avx512' };
    }),
    file: normEvidence,
    line: 'hardware.arch: avx512',
    says: /compiled without -mavx512f/,
  },
  {
    what: 'evidence of a processor claimed for a GPU',
    edits: withEvidence((entry) => {
      entry.realization = 'cuda.cu';
      entry.applies = { 'hardware.platform': 'cuda', 'hardware.arch': 'sm_90', 'numerics.weights': 'bf16' };
    }),
    file: normEvidence,
    line: 'hardware.platform: cuda',
    says: /the report is of a processor, this entry claims cuda/,
  },
  {
    what: 'new evidence that is about an older contract',
    edits: withEvidence((entry) => {
      entry.hashes = { ...(entry.hashes as object), contract: 'cd'.repeat(32) };
    }),
    file: normEvidence,
    line: 'contract: cdcdcd',
    says: /the run says nothing about it/,
  },
  {
    what: 'new evidence that is about another realization',
    edits: withEvidence((entry) => {
      entry.hashes = { ...(entry.hashes as object), realization: 'ef'.repeat(32) };
    }),
    file: normEvidence,
    line: 'realization: efefef',
    says: /the realization of this run was efefef/,
  },
  {
    what: 'a report that did not pass',
    edits: failed,
    file: reportOf(failed),
    line: '{',
    says: /the verdict is failed; only a passed run is evidence/,
  },
  {
    what: 'a report whose verdict its own gates deny',
    edits: contradicting,
    file: reportOf(contradicting),
    line: '{',
    says: /says "passed", but its gates and goals mean "failed"/,
  },
  {
    what: 'a committed report that somebody edits',
    edits: edit(keptReport, ['"lineCount": 2513', '"lineCount": 25']),
    file: keptReport,
    line: '{',
    says: /which the name does not end in: it was changed/,
  },
  {
    what: 'a report that goes while evidence names it',
    edits: { [keptReport]: null },
    file: 'contracts/text-stop/evidence.yaml',
    line: '2971cd6a631d4ed6',
    says: /no file of knowledge\/reports has the hash/,
  },
  {
    what: 'evidence that is taken away',
    edits: { [normEvidence]: '[]\n' },
    file: normEvidence,
    line: '[]',
    says: /is gone, though the realization is what it was; evidence is append only/,
  },
  {
    what: 'an old entry that is changed',
    edits: edit(normEvidence, ['threads: 2', 'threads: 4']),
    file: normEvidence,
    line: '- realization: cpu-x86_64.cpp',
    says: /was changed, though the realization is what it was/,
  },
];
