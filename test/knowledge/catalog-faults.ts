import { gpuPlatform, modelEntry, modelFile } from './knowledge-tree.ts';

export const norm = 'contracts/norm-rms';

/** Replaces the first `from` of a file; a fault that cannot be made is a fault of the test. */
export function edit(path: string, from: string, to: string): (files: Record<string, string>) => void {
  return (files) => {
    const text = files[path] ?? '';
    if (!text.includes(from)) throw new Error(`${path} does not hold ${from}`);
    files[path] = text.replace(from, to);
  };
}

/** What is wrong, the change that makes it so, and the problem that must be told. */
export const catalogFaults: readonly [string, (files: Record<string, string>) => void, RegExp][] = [
  [
    'an unknown key',
    edit(`${norm}/contract.md`, 'layer:', 'colour: red\nlayer:'),
    /contract\.md:4:1 colour: unknown key colour/,
  ],
  [
    'a value of the wrong kind',
    edit(`${norm}/contract.md`, 'version: 1.0.0', 'version: one'),
    /contract\.md:3:1 version: /,
  ],
  [
    'a duplicate key',
    edit(`${norm}/contract.md`, 'layer:', 'version: 1.0.0\nlayer:'),
    /contract\.md:4:1: .*unique/i,
  ],
  [
    'no front matter',
    (files) => {
      files[`${norm}/contract.md`] = 'text';
    },
    /contract\.md:1:1: expected front matter/,
  ],
  [
    'an id that is not the folder',
    edit(`${norm}/contract.md`, 'id: norm.rms', 'id: norm.layer'),
    /contract\.md:2:1 id: expected norm\.rms/,
  ],
  [
    'a symbol that the header lacks',
    edit(`${norm}/norm_rms.h`, 'rms_norm', 'other'),
    /norm_rms\.h does not declare rms_norm/,
  ],
  [
    'a symbol declared in another way',
    edit(`${norm}/norm_rms.h`, 'int x /*[1]*/', 'long x'),
    /norm_rms\.h declares rms_norm in another way/,
  ],
  [
    'a missing header',
    (files) => {
      delete files[`${norm}/norm_rms.h`];
    },
    /norm_rms\.h: missing/,
  ],
  [
    'numerics without a gate',
    (files) => {
      delete files[`${norm}/gate.yaml`];
    },
    /numerics: states numerics but has no gate\.yaml/,
  ],
  [
    'numerics without a reference',
    (files) => {
      delete files[`${norm}/reference.ts`];
    },
    /no reference\.ts/,
  ],
  [
    'a gate without a shim',
    (files) => {
      delete files[`${norm}/shim.cpp`];
    },
    /no shim\.cpp/,
  ],
  [
    'a gate case whose op no reference has',
    edit(`${norm}/gate.yaml`, 'op: norm', 'op: normal'),
    /reference\.ts has no op normal/,
  ],
  [
    'a gate of another contract',
    edit(`${norm}/gate.yaml`, 'contract: norm.rms', 'contract: norm.x'),
    /gate\.yaml:1:1 contract: expected norm\.rms/,
  ],
  [
    'an invariant without a gate case',
    edit(`${norm}/contract.md`, '#zero_row', '#gone'),
    /invariants\.0\.gate: gate\.yaml#gone does not exist/,
  ],
  [
    'a failure mode that is not there',
    edit(`${norm}/contract.md`, '[fm-22]', '[fm-99]'),
    /failure_modes\.0: there is no failure mode fm-99/,
  ],
  [
    'a failure mode with a gate that is not there',
    edit('failure-modes/fm-22-rmsnorm-cast-order.md', 'norm.rms#zero_row', 'norm.rms#gone'),
    /there is no gate norm\.rms#gone/,
  ],
  [
    'a required contract that is not there',
    edit(`${norm}/contract.md`, 'requires: []', 'requires: [a.b]'),
    /requires\.0: there is no contract a\.b/,
  ],
  [
    'a circle of requirements',
    (files) => {
      edit(`${norm}/contract.md`, 'requires: []', 'requires: [interface.cli]')(files);
    },
    /in a circle: harness\.protocol → norm\.rms → interface\.cli → harness\.protocol/,
  ],
  [
    'a constant that config.h cannot hold',
    edit(`${norm}/contract.md`, '[hidden_size]', '[hidden_size, width]'),
    /config\.1: width is not a constant/,
  ],
  [
    'a constant that is used but not listed',
    edit(`${norm}/contract.md`, '[hidden_size]', '[]'),
    /cpu-bf16\.cpp:6: uses config::hidden_size/,
  ],
  [
    'a gate config with an unknown constant',
    edit(`${norm}/gate.yaml`, 'hidden_size: 32', 'width: 32'),
    /configs\.1\.width: width is not a constant/,
  ],
  [
    'an include that no requirement provides',
    edit('contracts/interface-cli/contract.md', '[harness.protocol]', '[]'),
    /posix\.cpp:5: includes harness_protocol\.h/,
  ],
  [
    'a realization that exceeds its contract',
    edit(`${norm}/realizations/cpu-f32.cpp`, 'numerics.weights=f32', 'model.norm=layer'),
    /cpu-f32\.cpp:1: applies to model\.norm = layer, which exceeds .* rms/,
  ],
  [
    'a predicate over an unknown key',
    edit(`${norm}/realizations/cpu-f32.cpp`, 'numerics.weights', 'numerics.wieghts'),
    /cpu-f32\.cpp:3:1: unknown key numerics\.wieghts/,
  ],
  [
    'a realization without a licence line',
    edit(`${norm}/realizations/cpu-f32.cpp`, 'SPDX-License-Identifier: MIT', 'hello'),
    /cpu-f32\.cpp:1:1: the first line must be/,
  ],
  [
    'a realization without an applies line',
    edit(`${norm}/realizations/cpu-f32.cpp`, '// applies:', '// for:'),
    /needs a line "\/\/ applies/,
  ],
  [
    'a file that belongs to nothing',
    (files) => {
      files[`${norm}/notes.txt`] = 'x';
    },
    /notes\.txt: not a file of a contract/,
  ],
  [
    'evidence for a realization that is not there',
    (files) => {
      const hash = 'a'.repeat(64);
      files[`${norm}/evidence.yaml`] =
        `- realization: gone.cpp\n  report: ${hash}\n  repeat: npx metainfer\n  applies: {}\n  device: { cpu: x, threads: 2 }\n  toolchain: g++ 12\n  hashes: { contract: ${hash}, realization: ${hash}, gate: ${hash} }\n  figures: { nmse: 0 }\n  date: 2026-12-01\n`;
    },
    /evidence\.yaml:1:3: there is no realization gone\.cpp/,
  ],
  [
    'the same model twice with another value',
    (files) => {
      files['models/llama.yaml'] += modelEntry('org/one', 'hidden_size: 128');
    },
    /org\/one stands at models\/llama\.yaml:\d+ with other values: config\.hidden_size 64 and 128/,
  ],
  [
    'the same model twice',
    (files) => {
      files['models/llama.yaml'] += modelEntry('org/one', 'hidden_size: 64');
    },
    /org\/one already stands at models\/llama\.yaml/,
  ],
  [
    'a model of another family',
    edit('models/llama.yaml', 'model_type: llama', 'model_type: qwen2'),
    /model_type: expected llama/,
  ],
  [
    'a feature that its models contradict',
    edit('models/llama.yaml', 'value: false', 'value: true'),
    /features\.qkv_bias is true, but this config\.json means false/,
  ],
  [
    'a config key that nothing explains',
    (files) => {
      files['models/llama.yaml'] = modelFile('org/one', 'hidden_size: 64\n      head_dim: 16');
    },
    /config\.head_dim: config_keys .* does not say/,
  ],
  [
    'a flag that is used and forbidden',
    edit('platforms/cpu-x86_64.yaml', 'flags: [-O2]', 'flags: [-O3]'),
    /never: -O3 is both used and under never/,
  ],
  [
    'a forbidden flag that nvcc hands on',
    cuda('-Wall,-Wextra', '-Wall,-O3'),
    /cuda\.yaml:.* never: -O3 is both used and under never/,
  ],
  [
    'a device for whose arch nothing is compiled',
    cuda('arch: sm_80, memory', 'arch: sm_70, memory'),
    /cuda\.yaml:.* gpu\.devices\.0\.arch: sm_70 is not one of the archs: sm_80/,
  ],
  [
    'a device that is listed twice',
    cuda('{ id: two', '{ id: one'),
    /cuda\.yaml:.* gpu\.devices\.1\.id: one is listed twice/,
  ],
  [
    'a source that no device cites, and one that nobody wrote',
    cuda('sources: { sheet:', 'sources: { paper:'),
    /gpu\.devices\.0\.sources: no source is called sheet[\s\S]*gpu\.sources\.paper: no device cites this source/,
  ],
  [
    'host vectors on a GPU',
    cuda('vector_width: 1', 'vector_width: 8'),
    /cuda\.yaml:.* archs\.sm_80\.vector_width: a platform with gpu has one lane/,
  ],
  [
    'one lane without a GPU',
    edit('platforms/cpu-x86_64.yaml', 'vector_width: 8', 'vector_width: 1'),
    /cpu-x86_64\.yaml:.* archs\.avx2\.vector_width: a platform with gpu has one lane/,
  ],
];

/** Adds the file of a GPU platform with two devices, and the fault in it. */
function cuda(from: string, to: string): (files: Record<string, string>) => void {
  return (files) => {
    files['platforms/cuda.yaml'] = gpuPlatform;
    edit('platforms/cuda.yaml', from, to)(files);
  };
}
