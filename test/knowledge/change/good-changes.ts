import { type Edits, edit, nextMode, page, textOf, withEvidence } from './change-world.ts';

const norm = page('norm-rms');
const normFile = 'contracts/norm-rms/realizations/cpu-x86_64.cpp';
const signature = 'void rms_norm(Context& ctx, int num_rows, View out, View x, View gain);';

/** A realization of its own making: what it computes is right, how it does is nobody else's. */
const scalarNorm = `// SPDX-License-Identifier: MIT
// norm.rms: out = x / sqrt(mean(x^2) + eps) * gain by plain loops, squares summed in f64. Target: any processor.
// applies: hardware.platform=cpu-x86_64, hardware.arch=x86-64
#include "norm_rms.h"
#include "runtime_threading.h"

void rms_norm(Context& ctx, int num_rows, View out, View x, View gain) {
  parallel_for(ctx, num_rows, 8, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r != last; ++r) {
      const float* in = x.row(r);
      double total = 0.0;
      for (int32_t c = 0; c < gain.columns; ++c) total += static_cast<double>(in[c]) * in[c];
      const auto factor = static_cast<float>(1.0 / std::sqrt(total / gain.columns + config::rms_norm_eps));
      for (int32_t c = 0; c < gain.columns; ++c) out.row(r)[c] = in[c] * factor * gain.row(0)[c];
    }
  });
}
`;

const mode =
  `---\nid: ${nextMode}\ntitle: The gain multiplied in twice\nsymptom: every layer is off by its gain\ncause: the gain is folded into the weights and applied again\n` +
  'gates: ["norm.rms#basic"]\ncontracts: [norm.rms]\nreferences: ["run 17 of this repository, finding 2"]\n---\n## How to be right\nOnce.\n';
const mutation = `
  - id: ${nextMode}-gain-twice
    says: the gain is multiplied in twice (${nextMode})
    contract: norm.rms
    realization: cpu-x86_64.cpp
    checkpoint: llama-untied
    edits:
      - find: "if (i < n) store(out + i, load(x + i, n - i) * scale * load(gain + i, n - i), n - i);"
        replace: "if (i < n) store(out + i, load(x + i, n - i) * scale * load(gain + i, n - i) * load(gain + i, n - i), n - i);"
`;

/** Changes as people and the bot make them: none may be rejected. */
export const goodChanges: readonly (readonly [what: string, edits: Edits])[] = [
  ['nothing at all', {}],
  [
    'other words under a patch',
    edit(
      norm,
      ['version: 1.0.0', 'version: 1.0.1'],
      ['Nothing is subtracted; there is no bias', 'No mean is subtracted, and there is no bias'],
    ),
  ],
  [
    'a better figure under Cost',
    edit(norm, ['version: 1.0.0', 'version: 1.0.1'], ['1 µs for n = 4,096', '0.9 µs for n = 4,096']),
  ],
  [
    'one more mistake that people make',
    edit(
      norm,
      ['version: 1.0.0', 'version: 1.0.1'],
      ['## What people get wrong\n', '## What people get wrong\n- Summing in f16.\n'],
    ),
  ],
  [
    'one more edge under a minor version',
    edit(norm, ['version: 1.0.0', 'version: 1.1.0'], ['## Edges\n', '## Edges\nn = 1 · ']),
  ],
  [
    'one more case of a gate, with its edge',
    {
      ...edit(norm, ['version: 1.0.0', 'version: 1.1.0'], ['## Edges\n', '## Edges\nn = 1 · ']),
      'contracts/norm-rms/gate.yaml': `${textOf('contracts/norm-rms/gate.yaml')}  - id: one_column\n    op: rms_norm\n    inputs:\n      x: { shape: [3, 1], fill: normal, scale: 1 }\n      gain: { shape: [1], fill: around_one, scale: 0.3 }\n`,
    },
  ],
  [
    'a tighter tolerance in both places',
    {
      ...edit(norm, ['version: 1.0.0', 'version: 1.1.0'], ['nmse: 1.0e-12', 'nmse: 1.0e-13']),
      ...edit('contracts/norm-rms/gate.yaml', ['nmse: 1.0e-12', 'nmse: 1.0e-13']),
    },
  ],
  [
    'a new interface under a major version, with the one that stands for it',
    Object.assign(
      {},
      ...['norm-rms', 'norm-rms-offset'].flatMap((folder) => [
        edit(
          page(folder),
          [signature, signature.replace('View gain)', 'View gain, int first)')],
          ['version: 1.0.0', 'version: 2.0.0'],
        ),
        edit(`contracts/${folder}/norm_rms.h`, ['View gain /*[1, n]*/)', 'View gain /*[1, n]*/, int first)']),
      ]),
    ),
  ],
  ['a version that rises further than it must', edit(norm, ['version: 1.0.0', 'version: 2.0.0'])],
  [
    'a comment of a header under a patch',
    {
      ...edit(norm, ['version: 1.0.0', 'version: 1.0.1']),
      ...edit('contracts/norm-rms/norm_rms.h', [
        'root-mean-square normalisation',
        'normalisation by the root of the mean square,',
      ]),
    },
  ],
  [
    'a new realization with a claim of its own',
    { 'contracts/norm-rms/realizations/cpu-scalar.cpp': scalarNorm },
  ],
  ['a better realization', edit(normFile, ['num_rows, 16, [&]', 'num_rows, 32, [&]'])],
  [
    'a realization that goes, with its evidence',
    {
      'contracts/text-unicode/realizations/portable.cpp': null,
      'contracts/text-unicode/evidence.yaml': null,
    },
  ],
  ['evidence that its report bears out', withEvidence()],
  [
    'a failure mode with its mutation and its contract',
    {
      [`failure-modes/${nextMode}-gain-twice.md`]: mode,
      ...edit(
        norm,
        ['version: 1.0.0', 'version: 1.0.1'],
        ['failure_modes: [fm-22, fm-24]', `failure_modes: [fm-22, fm-24, ${nextMode}]`],
      ),
      ...edit('sabotage.yaml', ['\nmutations:\n', `\nmutations:${mutation}`]),
    },
  ],
  [
    'a failure mode read in one more place',
    edit('failure-modes/fm-24-in-place-norm.md', [
      'references:\n',
      'references:\n  - "run 12 of this repository, finding 1"\n',
    ]),
  ],
  [
    'two contracts that state the same of the same',
    {
      ...edit(
        norm,
        ['version: 1.0.0', 'version: 1.1.0'],
        ['gate: "gate.yaml#row_local" }', 'gate: "gate.yaml#row_local", states: { row_result: bitwise } }'],
      ),
      ...edit(
        page('head-logits'),
        ['version: 1.0.0', 'version: 1.1.0'],
        ['gate: "gate.yaml#row_local" }', 'gate: "gate.yaml#row_local", states: { row_result: bitwise } }'],
      ),
    },
  ],
  [
    'a fact with its source',
    edit('models/mistral.yaml', [
      'rope_layout: { value: "half_split"',
      'rope_layout: { value: "half_split "',
    ]),
  ],
  [
    'one more device',
    edit('platforms/cuda.yaml', [
      '    - id: h200\n      name: NVIDIA H200\n',
      '    - id: h200-nvl\n      name: NVIDIA H200 NVL\n      arch: sm_90\n      memory_gb: 141\n      bandwidth_gb_per_s: 4800\n      bf16_tflops: 835\n      l2_mib: 50\n      shared_kib_per_block: 227\n      multiprocessors: 132\n      sources: [h200-table]\n      unverified: [l2_mib]\n    - id: h200\n      name: NVIDIA H200\n',
    ]),
  ],
  ['an example file, which no catalog is made of', { 'examples/other.yaml': 'name: other\n' }],
];
