import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Gate } from '../../../src/model/contract.ts';
import { findToolchain } from '../../../src/verification/build.ts';
import { runUnitGate } from '../../../src/verification/gates/unit.ts';
import { probeSandbox } from '../../../src/verification/sandbox.ts';
import type { CudaToolchain } from '../../../src/verification/toolchain.ts';
import { fakeContext, fakeEngine } from '../fake-session.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-unit-emulation-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const emulationFolder = resolve('src/verification/cuda-emulation');
/** Only what emulation needs; nothing here calls nvcc. */
const cuda: CudaToolchain = {
  ...{ compiler: '/nonexistent', version: 'none', folder: '/nonexistent', runtimeLibrary: '/nonexistent' },
  ...{ flags: [], architectures: [], mode: 'compile-only', deviceFiles: [], emulationFolder },
  limits: { registersPerThread: 255, spillBytes: 0, sharedBytesPerBlock: 49_152 },
};

const header = '#pragma once\nvoid scale(float* out, const float* x, int count);\n';
/** Each block sums its 64 values through shared memory, and each thread adds the sum to its own value. */
const source = (kernel: string) => `#include <cuda_runtime.h>
#include "scale_rows.h"
#include "config.h"
static __global__ void scale_kernel(float* out, const float* x, int count) {
${kernel}
}
void scale(float* out, const float* x, int count) {
  float *to, *from;
  cudaMalloc(&to, count * sizeof(float));
  cudaMalloc(&from, count * sizeof(float));
  cudaMemcpyAsync(to, out, count * sizeof(float), cudaMemcpyHostToDevice, cudaStreamPerThread);
  cudaMemcpyAsync(from, x, count * sizeof(float), cudaMemcpyHostToDevice, cudaStreamPerThread);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3((count + 63) / 64);
  config.blockDim = dim3(64);
  config.stream = cudaStreamPerThread;
  cudaLaunchKernelEx(&config, scale_kernel, to, static_cast<const float*>(from), count);
  cudaMemcpyAsync(out, to, count * sizeof(float), cudaMemcpyDeviceToHost, cudaStreamPerThread);
  cudaStreamSynchronize(cudaStreamPerThread);
  cudaFree(to);
  cudaFree(from);
}
`;
const shim = `#include "shim.h"
#include "scale_rows.h"
void run_case(ShimCase& c) {
  c.out["out"] = shim_f32(c.in["x"].shape);
  scale(c.out["out"].f.data(), c.in["x"].f.data(), static_cast<int>(c.in["x"].f.size()));
}
`;
const reference = `export const ops = { scale: ({ inputs: { x }, facts }) => {
  const sums = [];
  x.data.forEach((value, at) => { sums[at >> 6] = (sums[at >> 6] ?? 0) + value; });
  return { out: { shape: x.shape, data: x.data.map((value, at) => value * facts.hiddenSize + sums[at >> 6]) } };
} };\n`;
const right = `  __shared__ float values[64];
  const int at = blockIdx.x * 64 + threadIdx.x;
  values[threadIdx.x] = at < count ? x[at] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < 64; ++i) sum += values[i];
  if (at < count) out[at] = x[at] * config::hidden_size + sum;`;

const gateOf = (configs: Gate['configs']) => ({
  contract: 'scale.rows',
  configs,
  tolerance: { nmse: 1e-12, max_abs: 1e-3 },
  cases: [
    { id: 'basic', op: 'scale', inputs: { x: { shape: [5, 'hidden_size'], fill: 'normal' } } },
    { id: 'huge', op: 'scale', inputs: { x: { shape: [3000, 3000], fill: 'normal' } } },
  ],
});
const twoModels = [{}, { hidden_size: 30 }];

async function judge(name: string, kernel: string, configs: Gate['configs'], emulate?: boolean) {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  const config = (size: number) =>
    `#pragma once\nnamespace config { inline constexpr int hidden_size = ${size}; }\n`;
  writeFileSync(join(folder, 'scale_rows.h'), header);
  writeFileSync(join(folder, 'scale_rows.cu'), source(kernel));
  writeFileSync(join(folder, 'config.h'), config(fakeEngine.facts.hiddenSize));
  writeFileSync(join(root, 'reference.mjs'), reference);
  const toolchain = await findToolchain({
    ...{ compiler: '/usr/bin/g++', flags: [], cacheFolder: join(root, 'cache'), jobs: 2, cuda },
    sandbox: probeSandbox('auto'),
  });
  const contract = {
    ...{ id: 'scale.rows', header: 'scale_rows.h', source: 'scale_rows.cu', requires: [] },
    ...{
      config: ['hidden_size'],
      gate: Gate.parse(gateOf(configs)),
      shim,
      reference: join(root, 'reference.mjs'),
    },
  };
  const base = fakeContext();
  return runUnitGate({
    ...base,
    ...{ toolchain, scratchFolder: join(root, `scratch-${name}`) },
    engine: { ...fakeEngine, folder, contracts: [contract], onDevice: true, vectorWidth: 1 },
    renderConfigHeader: ({ facts }) => config(facts.hiddenSize),
    effort: { ...base.effort, ...(emulate === undefined ? {} : { emulate }) },
  });
}

test('kernels run in host emulation at the small shapes, and cases that would take too long are counted', async () => {
  const outcome = await judge('right', right, twoModels);
  expect(outcome.findings).toEqual([]);
  expect(outcome.measurements).toEqual({
    ...{ contracts: 1, binaries: 2, cases: 2, emulated: 2, cases_too_large: 2 },
  });
});

test('a small engine is emulated at its own shapes as well', async () => {
  const { findings, measurements } = await judge('right', right, twoModels, true);
  expect(findings).toEqual([]);
  expect(measurements).toMatchObject({ binaries: 3, cases: 3 });
});

test.each([
  ['an unmasked tail', right.replace('at < count ? x[at] : 0.0f', 'x[at]')],
  ['a missing barrier', right.replace('  __syncthreads();\n', '')],
  ['a block too many to the right', right.replace('blockIdx.x * 64', 'blockIdx.x * 65')],
])('a kernel with %s turns the gate red', async (name, kernel) => {
  expect(kernel).not.toBe(right);
  const { findings } = await judge(name.replaceAll(' ', '-'), kernel, [{}]);
  expect(findings.length).toBeGreaterThan(0);
  expect(findings.every(({ contract }) => contract === 'scale.rows')).toBe(true);
});
