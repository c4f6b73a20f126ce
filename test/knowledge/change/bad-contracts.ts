import type { ChangeOptions } from '../../../src/knowledge/change/check-change.ts';
import { type Edits, edit, page, textOf } from './change-world.ts';

/** A change that must be rejected, and where. */
export interface BadChange {
  readonly what: string;
  readonly edits: Edits;
  readonly file: string;
  /** Text of the line at which the problem must stand. */
  readonly line: string | RegExp;
  /** Of the message. */
  readonly says: RegExp;
  readonly options?: ChangeOptions;
}

const norm = page('norm-rms');
const rmsSignature = 'void rms_norm(Context& ctx, int num_rows, View out, View x, View gain);';
const patched = ['version: 1.0.0', 'version: 1.0.1'] as const;
const sharpened = ['version: 1.0.0', 'version: 1.1.0'] as const;

const versions: readonly BadChange[] = [
  {
    what: 'a signature changes and the version does not follow to a new major',
    edits: {
      ...edit(norm, [rmsSignature, rmsSignature.replace('View gain)', 'View gain, float eps)')], sharpened),
      ...edit('contracts/norm-rms/norm_rms.h', ['View gain /*[1, n]*/)', 'View gain /*[1, n]*/, float eps)']),
    },
    file: norm,
    line: 'version: 1.1.0',
    says: /too small a step: .* which is a major change/,
  },
  {
    what: 'a function is taken out of the interface under a minor version',
    edits: {
      ...edit(
        page('text-unicode'),
        [/ {4}- signature: "bool is_space[\s\S]*?errors: none\n/.exec(textOf(page('text-unicode')))![0], ''],
        sharpened,
      ),
      ...edit('contracts/text-unicode/text_unicode.h', [
        /^bool is_space.*\n/m.exec(textOf('contracts/text-unicode/text_unicode.h'))![0],
        '',
      ]),
    },
    file: page('text-unicode'),
    line: 'version: 1.1.0',
    says: /is_space is gone|no longer declares/,
  },
  {
    what: 'a number format of the interface changes under a patch',
    edits: edit(
      norm,
      ['dtypes: { out: f32, x: f32, gain: f32 }', 'dtypes: { out: f32, x: f32, gain: bf16 }'],
      patched,
    ),
    file: norm,
    line: 'version: 1.0.1',
    says: /dtypes of rms_norm changed, which is a major change/,
  },
  {
    what: 'applies_when becomes narrower under a minor version',
    edits: edit(
      page('position-rope-frequencies'),
      ['rope.scaling: [none, linear, llama3, yarn]', 'rope.scaling: [none, linear, llama3]'],
      sharpened,
    ),
    file: page('position-rope-frequencies'),
    line: 'version: 1.1.0',
    says: /applies_when\.rope\.scaling is narrower/,
  },
  {
    what: 'an edge is added and the version stays',
    edits: edit(norm, ['## Edges\n', '## Edges\nn = 1 · ']),
    file: norm,
    line: 'version: 1.0.0',
    says: /the section Edges changed, which is a minor change/,
  },
  {
    what: 'a version falls',
    edits: edit(page('kv-cache'), ['version: 2.0.0', 'version: 1.9.0']),
    file: page('kv-cache'),
    line: 'version: 1.9.0',
    says: /falls from 2\.0\.0 to 1\.9\.0/,
  },
  {
    what: 'a tolerance is loosened in both places and the version stays',
    edits: {
      ...edit(norm, ['nmse: 1.0e-12', 'nmse: 1.0e-9']),
      ...edit('contracts/norm-rms/gate.yaml', ['nmse: 1.0e-12', 'nmse: 1.0e-9']),
    },
    file: norm,
    line: 'version: 1.0.0',
    says: /numerics; gate\.yaml changed/,
  },
];

const contradictions: readonly BadChange[] = [
  {
    what: 'the gate and the contract state two tolerances',
    edits: edit(norm, ['max_abs: 1.0e-5 }', 'max_abs: 1.0e-6 }'], sharpened),
    file: norm,
    line: 'tolerance: { nmse: 1.0e-12, max_abs: 1.0e-6 }',
    says: /gate\.yaml has max_abs 0\.00001, the contract says 0\.000001/,
  },
  {
    what: 'the header gives a shape that the contract does not',
    edits: edit('contracts/norm-rms/norm_rms.h', ['View gain /*[1, n]*/', 'View gain /*[num_rows, n]*/']),
    file: 'contracts/norm-rms/norm_rms.h',
    line: 'void rms_norm',
    says: /gain is \[num_rows, n\] here and \[1, n\] in contract\.md/,
  },
  {
    what: 'the header gives a number format that the contract does not',
    edits: edit('contracts/sampling-token/sampling_token.h', [
      'logits: [vocab_size] f32',
      'logits: [vocab_size] bf16',
    ]),
    file: 'contracts/sampling-token/sampling_token.h',
    line: 'logits: [vocab_size] bf16',
    says: /logits is bf16 here and f32 in contract\.md/,
  },
  {
    what: 'a realization promises less than the contract demands',
    edits: edit('contracts/norm-rms/realizations/cpu-x86_64.cpp', [
      'max |error| 1e-6 * |out|',
      'max |error| 1e-3',
    ]),
    file: 'contracts/norm-rms/realizations/cpu-x86_64.cpp',
    line: 'max |error| 1e-3',
    says: /states an error of up to 1e-3; the contract allows 0\.00001/,
  },
  {
    what: 'a realization applies where its contract does not',
    edits: edit('contracts/position-rope-frequencies/realizations/yarn.cpp', [
      'rope.scaling=yarn',
      'rope.scaling=yarn|dynamic',
    ]),
    file: 'contracts/position-rope-frequencies/realizations/yarn.cpp',
    line: 'SPDX',
    says: /exceeds the contract's applies_when/,
  },
  {
    what: 'two contracts of one engine state different things of the same',
    edits: {
      ...edit(
        norm,
        ['gate: "gate.yaml#row_local" }', 'gate: "gate.yaml#row_local", states: { row_result: bitwise } }'],
        sharpened,
      ),
      ...edit(
        page('head-logits'),
        [
          'gate: "gate.yaml#row_local" }',
          'gate: "gate.yaml#row_local", states: { row_result: within_tolerance } }',
        ],
        sharpened,
      ),
    },
    file: norm,
    line: 'states: { row_result: bitwise }',
    says: /states row_result = bitwise, where head\.logits states within_tolerance/,
  },
  {
    what: 'a family claims the architecture of another',
    edits: edit('models/qwen3.yaml', [
      'architectures: [Qwen3ForCausalLM]',
      'architectures: [Qwen3ForCausalLM, Qwen2ForCausalLM]',
    ]),
    file: 'models/qwen3.yaml',
    line: 'architectures: [Qwen3ForCausalLM, Qwen2ForCausalLM]',
    says: /Qwen2ForCausalLM is also an architecture of models\/qwen2\.yaml/,
  },
  {
    what: 'a feature of a family is not what its models have',
    edits: edit('models/qwen2.yaml', ['qkv_bias: { value: true', 'qkv_bias: { value: false']),
    file: 'models/qwen2.yaml',
    line: 'config:',
    says: /features\.qkv_bias is false, but this config\.json means true/,
  },
  {
    what: 'a published model stands in two files with different values',
    edits: edit('models/qwen3.yaml', [
      / {2}- id: \S+\n/.exec(textOf('models/qwen3.yaml'))![0],
      '  - id: Qwen/Qwen2.5-0.5B\n',
    ]),
    file: 'models/qwen3.yaml',
    line: 'Qwen/Qwen2.5-0.5B',
    says: /stands at models\/qwen2\.yaml:\d+ with other values/,
  },
  {
    what: 'a device has other figures in another platform',
    edits: {
      'platforms/cuda-two.yaml': textOf('platforms/cuda.yaml')
        .replace('id: cuda\n', 'id: cuda-two\n')
        .replace('bandwidth_gb_per_s: 4800', 'bandwidth_gb_per_s: 4900'),
    },
    file: 'platforms/cuda.yaml',
    line: '- id: h200',
    says: /h200 also stands in platforms\/cuda-two\.yaml, with another bytesPerSecond/,
  },
];

const texts: readonly BadChange[] = [
  {
    what: 'a tie-break is taken out',
    edits: edit(page('sampling-token'), [', the lowest of equals. Done.', '. Done.'], sharpened),
    file: page('sampling-token'),
    line: '2. **temperature = 0**',
    says: /chooses by size; which of equals is taken is not said/,
  },
  {
    what: 'the shape of an argument is taken out',
    edits: edit(
      norm,
      ['x: [num_rows, n], gain: [1, n] }', 'x: [num_rows, n] }'],
      ['version: 1.0.0', 'version: 2.0.0'],
    ),
    file: norm,
    line: 'shapes:',
    says: /the shape of gain in rms_norm is not said/,
  },
  {
    what: 'the step that writes the output is taken out',
    edits: edit(norm, ['3. out[i] ← (x[i] · r) · gain[i].\n', ''], sharpened),
    file: norm,
    line: '## Steps',
    says: /no step writes out of rms_norm/,
  },
  {
    what: 'a constant that the reference computes with is no longer listed',
    edits: edit(norm, ['config: [rms_norm_eps]', 'config: []'], sharpened),
    file: norm,
    line: 'config: []',
    says: /rms_norm_eps/,
  },
  {
    what: 'a contract without a source',
    edits: edit(
      page('text-stop'),
      [/^sources:\n(?: {2}- .*\n)+/m.exec(textOf(page('text-stop')))![0], 'sources:\n  - TODO\n'],
      patched,
    ),
    file: page('text-stop'),
    line: '- TODO',
    says: /"TODO" is no source that others can open/,
  },
  {
    what: 'a fact of a model without a source',
    edits: edit('models/mistral.yaml', [
      /source: "issue 2[^"]*"/.exec(textOf('models/mistral.yaml'))![0],
      'source: "unknown"',
    ]),
    file: 'models/mistral.yaml',
    line: 'source: "unknown"',
    says: /"unknown" is no source/,
  },
];

export const badContracts: readonly BadChange[] = [...versions, ...contradictions, ...texts];
