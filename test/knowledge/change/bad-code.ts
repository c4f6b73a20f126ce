import type { BadChange } from './bad-contracts.ts';
import { type Edits, edit, nextMode, page, textOf } from './change-world.ts';

const realizations = 'contracts/norm-rms/realizations';
const normFile = `${realizations}/cpu-x86_64.cpp`;
const normGate = 'contracts/norm-rms/gate.yaml';
const raised = edit(page('norm-rms'), ['version: 1.0.0', 'version: 1.1.0']);

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
  [`failure-modes/${nextMode}-gain-twice.md`]: change(
    `---\nid: ${nextMode}\ntitle: The gain multiplied in twice\nsymptom: every layer is off by its gain\ncause: the gain is folded into the weights and applied again\n` +
      'gates: ["norm.rms#basic"]\ncontracts: [norm.rms]\nreferences: ["seen in a run of this repository, see the sabotage entry"]\n---\n## How to be right\nOnce.\n',
  ),
});
const listed = edit(
  page('norm-rms'),
  ['version: 1.0.0', 'version: 1.0.1'],
  ['failure_modes: [fm-22, fm-24]', `failure_modes: [fm-22, fm-24, ${nextMode}]`],
);

const modes: readonly BadChange[] = [
  {
    what: 'a new failure mode that no mutation reproduces',
    edits: { ...newMode((text) => text), ...listed },
    file: `failure-modes/${nextMode}-gain-twice.md`,
    line: `id: ${nextMode}`,
    says: new RegExp(`no mutation of sabotage\\.yaml names ${nextMode}`),
  },
  {
    what: 'a failure mode with a gate that does not exist',
    edits: { ...newMode((text) => text.replace('#basic', '#gain_twice')), ...listed },
    file: `failure-modes/${nextMode}-gain-twice.md`,
    line: 'gates:',
    says: /there is no gate norm\.rms#gain_twice/,
  },
  {
    what: 'a failure mode that its contract does not list',
    edits: newMode((text) => text),
    file: `failure-modes/${nextMode}-gain-twice.md`,
    line: 'contracts: [norm.rms]',
    says: new RegExp(`norm\\.rms does not list ${nextMode}`),
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

export const badCode: readonly BadChange[] = [...gates, ...modes, ...claims];
