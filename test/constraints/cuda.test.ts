import { describe, expect, it } from 'vitest';
import { read, validText } from './read-case.ts';

/** The valid file for a GPU, with other lines under hardware or other weights. */
function cudaText(hardware: readonly string[], changes: readonly (readonly [string, string])[] = []): string {
  const lines = ['platform: cuda', ...hardware].map((line) => `  ${line}`);
  const text = validText.replace(/hardware:\n(?: {2}.*\n)+/, `hardware:\n${lines.join('\n')}\n`);
  return changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`the valid file does not hold ${from}`);
    return changed.replace(from, to);
  }, text);
}

const memory = 'memory: 16GiB';

describe('hardware of a file for a GPU', () => {
  it('has sm_90, one device and four host threads where the file says nothing', () => {
    const { constraints, problems, notCovered } = read(cudaText([memory]));
    expect(problems).toEqual([]);
    expect(notCovered).toEqual([]);
    expect(constraints?.hardware).toEqual({
      platform: 'cuda',
      arch: 'sm_90',
      devices: 1,
      threads: 4,
      memory: 16 * 2 ** 30,
    });
  });

  it('means the same with the defaults written out', () => {
    const written = read(cudaText(['arch: sm_90', 'threads: 4', 'devices: 1', memory]));
    expect(written.sha256).toBe(read(cudaText([memory])).sha256);
    expect(written.sha256).not.toBe(read(cudaText(['threads: 8', memory])).sha256);
  });

  it.each([
    ['a100', 'sm_80'],
    ['l4', 'sm_80'],
    ['h200', 'sm_90'],
  ])('takes the arch of the device %s', (device, arch) => {
    const { constraints, problems } = read(cudaText([`device: ${device}`, memory]));
    expect(problems).toEqual([]);
    expect(constraints?.hardware).toMatchObject({ device, arch });
  });

  it.each([
    ['l4', 'sm_90', 'sm_80', /l4 \(NVIDIA L4\) cannot run code for sm_90; expected sm_80/],
    ['h100', 'sm_80', 'sm_90', /h100 \(NVIDIA H100 80GB HBM3\) cannot run code for sm_80; expected sm_90/],
  ])('refuses to run on %s what is made for %s', (device, arch, right, expected) => {
    const { errors } = read(cudaText([`arch: ${arch}`, `device: ${device}`, memory]));
    expect(errors).toEqual([expect.stringMatching(/^c\.yaml:10:9 hardware\.arch: /)]);
    expect(errors[0]).toMatch(expected);
    expect(errors[0]).toMatch(new RegExp(`Write arch: ${right}, or leave it out\\.$`));
  });

  it.each([
    [
      'arch: hopper',
      /unknown GPU architecture "hopper"; expected one of sm_80, sm_90 on cuda\. Did you mean sm_90\?/,
    ],
    ['arch: h100', /Did you mean sm_90\?/],
    ['arch: sm90', /Did you mean sm_90\?/],
    ['arch: sm_90a', /Did you mean sm_90\?/],
    ['arch: 90', /found 90; expected an instruction set name .*Did you mean sm_90\?/],
    ['arch: 9.0', /Did you mean sm_90\?/],
    ['arch: "8.9"', /Did you mean sm_80\?/],
    ['arch: Ampere', /Did you mean sm_80\?/],
    ['arch: A100-80GB', /Did you mean sm_80\?/],
    ['arch: rtx4090', /Did you mean sm_80\?/],
    ['arch: avx2', /unknown GPU architecture "avx2"; expected one of sm_80, sm_90 on cuda\.$/],
    ['arch: sm_70', /unknown GPU architecture "sm_70"; expected one of sm_80, sm_90 on cuda\.$/],
    ['arch: sm_100', /unknown GPU architecture "sm_100"; expected one of sm_80, sm_90 on cuda\.$/],
    [
      'device: H100',
      /unknown device "H100"; expected one of a100, .*rtx4090, or no device.* Did you mean h100\?/,
    ],
    ['device: NVIDIA-A100-SXM4-80GB', /Did you mean a100\?/],
    ['device: RTX 4090', /Did you mean rtx4090\?/],
    ['device: "4090"', /Did you mean rtx4090\?/],
    ['device: mi300x', /unknown device "mi300x"; expected one of a100, .*the plan knows no rates\.$/],
    ['gpu: h200', /unknown key "gpu" under hardware\. Did you mean device\?/],
    ['gpus: 2', /unknown key "gpus" under hardware\. Did you mean devices\?/],
    ['vram: 16GiB', /unknown key "vram" under hardware\. Did you mean memory\?/],
  ])('refuses "%s" with what was probably meant', (line, expected) => {
    const { errors } = read(cudaText([line, memory]));
    expect(errors).toEqual([expect.stringMatching(expected)]);
  });

  it('refuses more memory than the device has, and takes all of it', () => {
    expect(read(cudaText(['device: h100', 'memory: 80 GB'])).errors).toEqual([]);
    expect(read(cudaText(['device: h100', 'memory: 80GiB'])).errors).toEqual([
      'c.yaml:11:11 hardware.memory: found 80.0 GiB; expected at most 74.5 GiB, the memory of h100 (80 GB).',
    ]);
  });

  it.each(['gpu', 'nvidia', 'cuda12', 'CUDA13', 'h100', 'rtx4090'])('sends platform: %s to cuda', (word) => {
    const { errors } = read(cudaText([memory], [['platform: cuda', `platform: ${word}`]]));
    expect(errors).toEqual([expect.stringMatching(/hardware\.platform: .*Did you mean cuda\?$/)]);
  });
});

describe('hardware of a file for a processor', () => {
  it('needs its threads, and says so as before', () => {
    expect(read(validText.replace(/ {2}threads: 2\n/, '')).errors).toEqual([
      'c.yaml:8:1 hardware.threads: hardware.threads is missing; expected a whole number from 1 to 1024.',
    ]);
  });

  it('has no device', () => {
    expect(read(validText.replace('  threads: 2', '  threads: 2\n  device: h200')).errors).toEqual([
      'c.yaml:11:11 hardware.device: a device belongs to a GPU platform; expected no hardware.device on cpu-x86_64. Remove it, or write platform: cuda.',
    ]);
  });
});

describe('what is known and not covered on a GPU', () => {
  const uncovered = (text: string): string[] => {
    const { problems, notCovered } = read(text);
    expect(problems).toEqual([]);
    return notCovered.map(({ message }) => message);
  };

  it('covers bf16 and f16 weights, and the processor f32 and bf16', () => {
    const bf16 = 'weights: bf16';
    expect(uncovered(cudaText([memory], [[bf16, 'weights: f16']]))).toEqual([]);
    expect(uncovered(cudaText([memory], [[bf16, 'weights: f32']]))).toEqual([
      'numerics.weights: f32 is known, but not covered yet on cuda: no realization exists for it. Covered on cuda: bf16, f16.',
    ]);
    expect(uncovered(validText.replace(bf16, 'weights: f16'))).toEqual([
      'numerics.weights: f16 is known, but not covered yet on cpu-x86_64: no realization exists for it. Covered on cpu-x86_64: f32, bf16.',
    ]);
  });

  it('covers one device, and caches and activations in f32', () => {
    expect(uncovered(cudaText(['devices: 2', memory]))).toEqual([
      'hardware.devices: 2 is known, but not covered yet: no realization exists for it. Covered now: 1.',
    ]);
    expect(uncovered(cudaText([memory], [['kv_cache: f32', 'kv_cache: bf16']]))).toHaveLength(1);
    expect(uncovered(cudaText([memory], [['kv_cache: f32', 'activations: bf16']]))).toHaveLength(1);
  });

  it('has no llama.cpp on a GPU to compare with, and says what to write instead', () => {
    const goal = 'ttft_ms_p50: "<= 2000"';
    const relative = 'decode_tokens_per_second: ">= 0.7x llama.cpp"';
    expect(uncovered(validText.replace(goal, relative))).toEqual([]);
    expect(uncovered(cudaText([memory], [[goal, 'decode_tokens_per_second: ">= 300"']]))).toEqual([]);
    expect(uncovered(cudaText([memory], [[goal, relative]]))).toEqual([
      'goals.require.decode_tokens_per_second: ">= 0.7x llama.cpp" is known, but not covered yet on cuda: the llama.cpp that engines are compared with runs on the processor, so there is no GPU baseline yet. Write an absolute bound: ">= 20" or ">= 20 tokens/s".',
    ]);
  });

  it('has no agents who write for a GPU', () => {
    const zero = `${cudaText([memory])}generation: {mode: zero-reference}\n`;
    expect(uncovered(zero)).toEqual([
      'generation.mode: zero-reference is known, but not covered yet on cuda: agents write no parts for it. Covered on cuda: knowledge-first.',
    ]);
  });

  it('does not take the memory of the host process for that of the engine', () => {
    expect(uncovered(cudaText([memory], [['ttft_ms_p50: "<= 2000"', 'peak_memory: "<= 2 GB"']]))).toEqual([
      expect.stringMatching(
        /peak_memory: "<= 2 GB" is known, but not covered yet on cuda: .*leave the goal out/,
      ),
    ]);
  });
});
