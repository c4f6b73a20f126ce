import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadCatalog } from '../../src/knowledge/load-catalog.ts';

export type Files = Readonly<Record<string, string>>;

/** contract.md of a contract without numerics; lines of `more` are added to or replace those of the front matter. */
export function contractPage(
  id: string,
  symbol: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const header = `${id.replaceAll(/[.-]/g, '_')}.h`;
  const fields: Record<string, string> = {
    id,
    version: '1.0.0',
    layer: 'common',
    summary: 'A small contract of the tests.',
    applies_when: '{}',
    provides: `{ header: ${header}, symbols: [{ signature: "${symbol}", errors: none }] }`,
    requires: '[]',
    config: '[]',
    invariants: '[]',
    failure_modes: '[]',
    gates: '[]',
    sources: '[the tests]',
    ...more,
  };
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${value}`);
  return `---\n${lines.join('\n')}\n---\n## Meaning\nNothing much.\n`;
}

export function realizationText(id: string, code: string, applies = 'any', more = ''): string {
  return `// SPDX-License-Identifier: MIT\n// ${id}: does it; any target.\n// applies: ${applies}\n${more}${code}`;
}

const headerStart = '#pragma once\n';

/** A small knowledge base without faults: two roots over one shared contract with a gate. */
export function validTree(): Record<string, string> {
  return {
    'contracts/harness-protocol/contract.md': contractPage('harness.protocol', 'int run_harness()', {
      layer: 'deployment',
      requires: '[norm.rms]',
    }),
    'contracts/harness-protocol/harness_protocol.h': `${headerStart}int run_harness();\n`,
    'contracts/harness-protocol/realizations/posix.cpp': realizationText(
      'harness.protocol',
      '#include "harness_protocol.h"\n#include "norm_rms.h"\nint run_harness() { return rms_norm(1); }\n',
    ),
    'contracts/interface-cli/contract.md': contractPage('interface.cli', 'int run_cli()', {
      layer: 'deployment',
      requires: '[harness.protocol]',
    }),
    'contracts/interface-cli/interface_cli.h': `${headerStart}int run_cli();\n`,
    'contracts/interface-cli/realizations/posix.cpp': realizationText(
      'interface.cli',
      '#include "interface_cli.h"\n#include "harness_protocol.h"\nint run_cli() { return run_harness(); }\nint main() { return run_cli(); }\n',
    ),
    'contracts/norm-rms/contract.md': contractPage('norm.rms', 'int rms_norm(int x)', {
      applies_when: '{ model.norm: rms }',
      config: '[hidden_size]',
      numerics: '{ accumulate: f32, tolerance: { nmse: 1.0e-10, max_abs: 1.0e-5 } }',
      invariants: '[{ id: zero, says: zero stays zero, gate: gate.yaml#zero_row }]',
      failure_modes: '[fm-22]',
      gates: '[gate.yaml]',
    }),
    'contracts/norm-rms/norm_rms.h': `${headerStart}// The norm.\nint rms_norm(int x /*[1]*/);\n`,
    'contracts/norm-rms/gate.yaml':
      'contract: norm.rms\nconfigs: [{}, { hidden_size: 32 }]\ntolerance: { nmse: 1.0e-10, max_abs: 1.0e-5 }\n' +
      'cases:\n  - { id: zero_row, op: norm, inputs: { x: { shape: [1, hidden_size], fill: zeros } } }\n',
    'contracts/norm-rms/shim.cpp': '#include "shim.h"\n',
    'contracts/norm-rms/reference.ts': 'export const ops = { norm: () => ({}) };\n',
    'contracts/norm-rms/realizations/cpu-bf16.cpp': realizationText(
      'norm.rms',
      '#include "config.h"\n#include "norm_rms.h"\nint rms_norm(int x) { return x * config::hidden_size; }\n',
      'hardware.platform=cpu-x86_64, numerics.weights=bf16',
    ),
    'contracts/norm-rms/realizations/cpu-f32.cpp': realizationText(
      'norm.rms',
      '#include "config.h"\n#include "norm_rms.h"\nint rms_norm(int x) { return x + config::hidden_size; }\n',
      'hardware.platform=cpu-x86_64, numerics.weights=f32',
    ),
    'failure-modes/fm-22-rmsnorm-cast-order.md':
      '---\nid: fm-22\ntitle: RMSNorm cast order\nsymptom: large error after many layers\ncause: cast before the gain\n' +
      'gates: [trace, norm.rms#zero_row]\ncontracts: [norm.rms]\nreferences: [the tests]\n---\nText.\n',
    'models/llama.yaml': modelFile('org/one', 'hidden_size: 64'),
    'platforms/cpu-x86_64.yaml':
      'id: cpu-x86_64\nsummary: A platform of the tests.\ncompilers: [{ command: g++, minimum_major: 12 }]\nflags: [-O2]\n' +
      'never: [{ flag: -O3, because: it was miscompiled once }]\n' +
      'archs: { avx2: { summary: vectors, flags: [-mavx2], vector_width: 8, cpu_flags: [avx2] } }\nsources: [the tests]\n',
  };
}

const oneDevice =
  'arch: sm_80, memory_gb: 24, bandwidth_gb_per_s: 300, bf16_tflops: 121, l2_mib: 48, shared_kib_per_block: 99, multiprocessors: 58, sources: [sheet], unverified: [l2_mib]';

/** platforms/cuda.yaml with two devices. */
export const gpuPlatform = `id: cuda
summary: A GPU platform of the tests.
compilers: [{ command: g++, minimum_major: 12 }]
flags: [-O2]
never: [{ flag: -O3, because: it was miscompiled once }]
archs: { sm_80: { summary: Ampere, flags: [], vector_width: 1, cpu_flags: [] } }
gpu:
  compiler: { command: nvcc, minimum_major: 12 }
  flags: ["-Xcompiler=-Wall,-Wextra"]
  limits: { registers_per_thread: 255, spill_bytes: 0, static_shared_bytes: 49152 }
  devices:
    - { id: one, name: Device One, ${oneDevice} }
    - { id: two, name: Device Two, ${oneDevice} }
  sources: { sheet: a data sheet of the tests }
sources: [the tests]
`;

/** models/llama.yaml with one model; `line` is one more line of its config. */
export function modelFile(id: string, line: string): string {
  return `family: llama
architectures: [LlamaForCausalLM]
summary: A family of the tests.
features: { qkv_bias: { value: false, source: the tests } }
config_keys:
  { model_type: family, hidden_size: width, num_hidden_layers: layers, num_attention_heads: heads, num_key_value_heads: heads,
    intermediate_size: width, vocab_size: rows, hidden_act: silu, rms_norm_eps: eps, rope_theta: base,
    max_position_embeddings: context, tie_word_embeddings: tied, bos_token_id: start, eos_token_id: end }
tensors: [{ name: model.norm.weight, shape: [hidden_size] }]
sources: [the tests]
models:
${modelEntry(id, line)}`;
}

export function modelEntry(id: string, line: string): string {
  return `  - id: ${id}
    source: the tests
    config:
      model_type: llama
      ${line}
      num_hidden_layers: 2
      num_attention_heads: 4
      num_key_value_heads: 2
      intermediate_size: 96
      vocab_size: 100
      hidden_act: silu
      rms_norm_eps: 1.0e-5
      rope_theta: 10000.0
      max_position_embeddings: 128
      tie_word_embeddings: false
      bos_token_id: 1
      eos_token_id: 2
    generation_config: {}
    tokenizer: { model: none, pre_tokenizer: none, normalizer: none, source: the tests }
`;
}

/** Writes the files into a new folder, loads them, and removes the folder. */
export async function loadFiles(files: Files): ReturnType<typeof loadCatalog> {
  const root = await mkdtemp(join(tmpdir(), 'metainfer-knowledge-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    return await loadCatalog(root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
