import { sha256Of } from '../../../src/knowledge/read-tree.ts';
import { Report } from '../../../src/model/report.ts';
import type { BadChange } from './bad-contracts.ts';
import { type Edits, edit, keptReport, page, textOf, withEvidence } from './change-world.ts';

const realizations = 'contracts/norm-rms/realizations';
const normFile = `${realizations}/cpu-x86_64.cpp`;
const normEvidence = 'contracts/norm-rms/evidence.yaml';
const normGate = 'contracts/norm-rms/gate.yaml';
const raised = edit(page('norm-rms'), ['version: 1.0.0', 'version: 1.1.0']);

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

const evidence: readonly BadChange[] = [
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

const gates: readonly BadChange[] = [
  {
    what: 'a gate whose tolerance lets zeros pass',
    edits: {
      ...raised,
      ...edit(normGate, [
        'tolerance: { nmse: 1.0e-12, max_abs: 1.0e-5 }',
        'tolerance: { nmse: 2.0, max_abs: 1.0e+9 }',
      ]),
    },
    file: normGate,
    line: 'tolerance: { nmse: 2.0',
    says: /lets almost any output pass/,
  },
  {
    what: 'a gate with an endless tolerance',
    edits: { ...raised, ...edit(normGate, ['max_abs: 1.0e-5 }\ncases', 'max_abs: .inf }\ncases']) },
    file: normGate,
    line: 'max_abs: .inf',
    says: /number/i,
  },
  {
    what: 'a gate without a case',
    edits: {
      ...raised,
      [normGate]:
        'contract: norm.rms\nconfigs: [{}]\ntolerance: { nmse: 1.0e-12, max_abs: 1.0e-5 }\ncases: []\n',
    },
    file: normGate,
    line: 'cases: []',
    says: />=1|at least|too small/i,
  },
  {
    what: 'a gate that feeds nothing but zeros',
    edits: {
      ...raised,
      [normGate]:
        'contract: norm.rms\nconfigs: [{}]\ntolerance: { nmse: 1.0e-12, max_abs: 1.0e-5 }\ncases:\n' +
        ['zero_row', 'small_row', 'in_place', 'row_local']
          .map(
            (id) =>
              `  - { id: ${id}, op: rms_norm, inputs: { x: { shape: [2, 8], fill: zeros }, gain: { shape: [8], fill: zeros } } }\n`,
          )
          .join(''),
    },
    file: normGate,
    line: 'cases:',
    says: /every case feeds zeros or nothing at all/,
  },
  {
    what: 'a case of integers that is compared with a tolerance',
    edits: {
      ...edit(page('text-utf8'), ['version: 1.0.0', 'version: 1.1.0']),
      ...edit('contracts/text-utf8/gate.yaml', ['exact: true', 'exact: false']),
    },
    file: 'contracts/text-utf8/gate.yaml',
    line: 'exact: false',
    says: /integers and bytes are compared exactly/,
  },
  {
    what: 'a changed gate that no mutation is aimed at',
    edits: {
      ...edit(page('text-normalizer'), ['version: 1.0.0', 'version: 1.1.0']),
      ...edit('contracts/text-normalizer/gate.yaml', ['- { id: plain', '- { id: plain_text']),
    },
    file: 'contracts/text-normalizer/gate.yaml',
    line: 'contract: text.normalizer',
    says: /no mutation of sabotage\.yaml is aimed at text\.normalizer/,
  },
  {
    what: 'a mutation whose text is no longer there',
    edits: edit('contracts/position-rope/realizations/cpu-x86_64.cpp', [
      'const float a = first[i], b = second[i];',
      'const float a = first[i];\n    const float b = second[i];',
    ]),
    file: 'sabotage.yaml',
    line: 'const float a = first[i], b = second[i];',
    says: /holds this text 0 times, expected once/,
  },
];

const newMode = (change: (text: string) => string): Edits => ({
  'failure-modes/fm-49-gain-twice.md': change(
    '---\nid: fm-49\ntitle: The gain multiplied in twice\nsymptom: every layer is off by its gain\ncause: the gain is folded into the weights and applied again\n' +
      'gates: ["norm.rms#basic"]\ncontracts: [norm.rms]\nreferences: ["seen in a run of this repository, see the sabotage entry"]\n---\n## How to be right\nOnce.\n',
  ),
});
const listed = edit(
  page('norm-rms'),
  ['version: 1.0.0', 'version: 1.0.1'],
  ['failure_modes: [fm-22, fm-24]', 'failure_modes: [fm-22, fm-24, fm-49]'],
);

const modes: readonly BadChange[] = [
  {
    what: 'a new failure mode that no mutation reproduces',
    edits: { ...newMode((text) => text), ...listed },
    file: 'failure-modes/fm-49-gain-twice.md',
    line: 'id: fm-49',
    says: /no mutation of sabotage\.yaml names fm-49/,
  },
  {
    what: 'a failure mode with a gate that does not exist',
    edits: { ...newMode((text) => text.replace('#basic', '#gain_twice')), ...listed },
    file: 'failure-modes/fm-49-gain-twice.md',
    line: 'gates:',
    says: /there is no gate norm\.rms#gain_twice/,
  },
  {
    what: 'a failure mode that its contract does not list',
    edits: newMode((text) => text),
    file: 'failure-modes/fm-49-gain-twice.md',
    line: 'contracts: [norm.rms]',
    says: /norm\.rms does not list fm-49/,
  },
  {
    what: 'a failure mode that is taken away while contracts name it',
    edits: { 'failure-modes/fm-24-in-place-norm.md': null },
    file: page('norm-rms'),
    line: 'failure_modes: [fm-22, fm-24]',
    says: /there is no failure mode fm-24/,
  },
  {
    what: 'a dangling id of a contract',
    edits: edit(
      page('norm-rms'),
      ['requires: [runtime.context, runtime.memory', 'requires: [runtime.contxt, runtime.memory'],
      ['version: 1.0.0', 'version: 2.0.0'],
    ),
    file: page('norm-rms'),
    line: 'requires:',
    says: /there is no contract runtime\.contxt/,
  },
];

const dense = 'contracts/linear-dense/realizations/cpu-x86_64-bf16.cpp';
const claims: readonly BadChange[] = [
  {
    what: 'a realization that claims an arch which nothing is compiled for',
    edits: edit(normFile, [
      'hardware.platform=cpu-x86_64',
      'hardware.platform=cpu-x86_64, hardware.arch=avx2|avx1024',
    ]),
    file: normFile,
    line: '// applies:',
    says: /claims hardware\.arch = avx1024, which nothing builds/,
  },
  {
    what: 'a realization that claims a number format that its platform lacks',
    edits: edit(dense, ['numerics.weights=bf16', 'numerics.weights=bf16|f16']),
    file: dense,
    line: '// applies:',
    says: /claims numerics\.weights = f16, which nothing builds; known: f32, bf16/,
  },
  {
    what: 'a realization that claims a platform on which what it requires is not there',
    edits: edit(normFile, ['hardware.platform=cpu-x86_64', 'hardware.platform=cpu-x86_64|cuda']),
    file: normFile,
    line: '// applies:',
    says: /claims cuda, but requires runtime\.vectors, which is there on cpu-x86_64 only/,
  },
  {
    what: 'device code that claims every platform',
    edits: edit(`${realizations}/cuda.cu`, ['hardware.platform=cuda', 'any']),
    file: `${realizations}/cuda.cu`,
    line: '// applies:',
    says: /is device code, and claims the platform cpu-x86_64/,
  },
  {
    what: 'a realization without a licence line',
    edits: edit(normFile, ['// SPDX-License-Identifier: MIT\n', '']),
    file: normFile,
    line: '// norm.rms',
    says: /SPDX-License-Identifier: MIT/,
  },
  {
    what: 'the same code once more under another name',
    edits: { [`${realizations}/cpu-again.cpp`]: textOf(normFile) },
    file: `${realizations}/cpu-again.cpp`,
    line: 'static void norm_row',
    says: /100 % of this file stands in contracts\/norm-rms\/realizations\/cpu-x86_64\.cpp: lines \d+–\d+ are/,
  },
  {
    what: 'a file copied from a reference tree',
    edits: edit(normFile, ['out[rows, n]', 'out[rows, n] ']),
    options: {
      references: [{ name: 'other/engine/norm.cpp', text: `namespace other {\n${textOf(normFile)}}\n` }],
    },
    file: normFile,
    line: 'static void norm_row',
    says: /of this file stands in other\/engine\/norm\.cpp: lines \d+–\d+ are other\/engine\/norm\.cpp:\d+–\d+/,
  },
];

export const badCode: readonly BadChange[] = [...evidence, ...gates, ...modes, ...claims];
