import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isCudaFile } from '../../src/model/code-cuda.ts';
import { scanSource } from '../../src/model/code-rules.ts';

const headers = new Set(['runtime_cuda.h', 'norm_rms.h', 'config.h']);

function messagesOf(text: string, contract = 'norm.rms', language: 'c++' | 'cuda' = 'cuda'): string[] {
  return scanSource(text, { headers, contract, language }).map(({ message }) => message);
}

const accepted: readonly string[] = [
  '#include <cuda_runtime.h>\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include "runtime_cuda.h"',
  '#pragma once\nvoid f() {\n#pragma unroll\n  for (;;) {}\n#pragma unroll 4  // rows\n  for (;;) {}\n}',
  '__global__ void __launch_bounds__(256, 2) k(float* __restrict__ x) { __shared__ float tile[256]; __syncthreads(); }',
  '__device__ __forceinline__ float f(float v) { return __shfl_xor_sync(all_lanes, v, 1) + __ldg(&v) + __expf(v); }',
  'auto a = __bfloat16_as_ushort(__float2bfloat16_rn(1.0f)); __nv_bfloat16 b; __half c = __float2half_rn(1.0f);',
  'check_cuda(cudaMemsetAsync(to, 0, bytes, engine_stream()), "clear");',
  'check_cuda(::cudaStreamSynchronize(engine_stream()), "wait");',
  '[](void* held) { ignore_cuda(cudaFree(held)); }',
  '~Graph() { ignore_cuda(cudaGraphExecDestroy(graph)); }',
  'cudaDeviceProp seen{}; check_cuda(cudaGetDeviceProperties(&seen, 0), "x"); use(seen.multiProcessorCount);',
  'const size_t bytes = sizeof(Request) + sizeof(uint4) + sizeof half; S(S&&) noexcept; static_assert(n > 0);',
  'if constexpr (std::is_same_v<T, float>) use(Device::cuda, model::is_ready(x));',
  'if (rows > 0) check_cuda(cudaGraphLaunch(ready_, engine_stream()), what);',
  'try { work(); } catch (...) { ignore_cuda(cudaStreamEndCapture(engine_stream(), &graph)); throw; }',
  'Model* make() { return new Model{}; }\n__device__ float f(float v) { return v; }\nS(const S&) = delete;',
  'launch("norm", norm_rows<4>, dim3(rows), 128, x, y);',
  'std::vector<std::vector<std::array<int, 4>>> deep; int a = 1 << 3; bool b = x < y;',
  'throw EngineError(cudaGetErrorString(status));',
  'if (status == cudaErrorMemoryAllocation) {}',
  'check_cuda(cudaStreamBeginCapture(engine_stream(), cudaStreamCaptureModeThreadLocal), "capture");',
  '// cudaMemcpy(a, b) and <<<1, 2>>> in a comment\nconst char* s = "cudaDeviceReset <<<";',
];

const refused: readonly (readonly [string, RegExp])[] = [
  ['kernel<<<1, 256>>>(x);', /^<<< is not allowed: launch/],
  ['kernel <<< grid, block, 0, stream >>> (x);', /^<<< is not allowed/],
  ['cudaMalloc(&base, bytes);', /^unchecked CUDA call: cudaMalloc/],
  ['status = cudaMalloc(&base, bytes);', /^unchecked CUDA call/],
  ['const cudaError_t status = cudaMalloc(&base, bytes); use(base);', /^unchecked CUDA call|looks at what/],
  ['(void)cudaStreamSynchronize(engine_stream());', /^unchecked CUDA call/],
  ['check_cuda(first(cudaStreamSynchronize(s)), "x");', /^unchecked CUDA call|around a CUDA call/],
  ['~Memory() { cudaFree(held); }', /^unchecked CUDA call: .* or ignore_cuda\(cudaFree/],
  ['ignore_cuda(cudaStreamSynchronize(engine_stream()));', /^unchecked CUDA call/],
  ['auto release = cudaFree;', /but where it is called/],
  ['std::unique_ptr<void, decltype(&cudaFree)> held;', /but where it is called|ask nothing/],
  ['void check_cuda(cudaError_t, const char*) {}', /but around a CUDA call|looks at what/],
  ['check_cuda(status, "x");', /^check_cuda is not allowed but around a CUDA call/],
  ['auto ignore = ignore_cuda;', /^ignore_cuda is not allowed but around/],
  ['check_cuda(cudaMemcpy(a, b, 1, cudaMemcpyDefault), "x");', /not among the CUDA calls/],
  ['check_cuda(cudaMemcpyToSymbol(a, b, 1), "x");', /not among the CUDA calls/],
  ['check_cuda(cudaIpcGetMemHandle(&h, p), "x");', /not among the CUDA calls/],
  ['check_cuda(cudaHostRegister(p, 1, 0), "x");', /not among the CUDA calls/],
  ['check_cuda(cudaLaunchHostFunc(s, f, p), "x");', /not among the CUDA calls/],
  ['check_cuda(cudaDeviceReset(), "x");', /not among the CUDA calls/],
  ['check_cuda(cudaLaunchKernelEx(&c, k), "x");', /launch\(\.\.\.\) of runtime\.cuda/],
  ['cudaLaunchConfig_t config{};', /launch\(\.\.\.\) of runtime\.cuda/],
  [
    'check_cuda(cudaStreamBeginCapture(engine_stream(), cudaStreamCaptureModeGlobal), "x");',
    /not among the CUDA calls/,
  ],
  ['cuMemAlloc(&p, 1);', /runtime's own calls only/],
  ['CUdevice device;', /runtime's own calls only/],
  ['nvrtcCompileProgram(p, 0, n);', /runtime's own calls only/],
  ['cublasCreate(&handle);', /runtime's own calls only/],
  ['namespace cg = cooperative_groups;', /runtime's own calls only/],
  ['float v = tex2D<float>(t, x, y);', /runtime's own calls only/],
  ['atomicAdd(&sum, value);', /sums must have one order/],
  ['asm volatile("trap;");', /^asm is not allowed/],
  ['extern __shared__ float all[];', /^extern is not allowed/],
  ['__constant__ float table[4];', /implementation's/],
  ['__managed__ int shared;', /implementation's/],
  ['__managed__ int shared_with_host;', /implementation's/],
  ['__threadfence();', /implementation's/],
  ['int v = __ballot_sync(all_lanes, x);', /implementation's/],
  ['__nanosleep(10);', /implementation's/],
  ['__trap();', /implementation's/],
  ['#if __CUDA_ARCH__ >= 900\n#endif', /directive/],
  ['#pragma unroll n', /directive/],
  ['#pragma nv_diag_suppress 177', /directive/],
  ['#include <cooperative_groups.h>', /#include/],
  ['#include <cuda/std/array>', /#include/],
  ['#include <mma.h>', /#include/],
  ['#include <cublas_v2.h>', /#include/],
  ['#include <cuda.h>', /#include/],
  ['int f() { return system("x"); }', /^system is not allowed/],
];

describe('the rules for CUDA C++', () => {
  it.each(accepted)('accept %j', (text) => {
    expect(messagesOf(text)).toEqual([]);
  });

  it.each(refused)('refuse %j', (text, message) => {
    const found = messagesOf(text);
    expect(found.length).toBeGreaterThan(0);
    for (const said of found) expect(said).toMatch(message);
  });

  it('name the line', () => {
    const text = 'void f() {\n\n  kernel<<<1, 1>>>();\n}\n';
    expect(scanSource(text, { headers, contract: 'norm.rms', language: 'cuda' })).toMatchObject([
      { line: 3 },
    ]);
  });

  it('hold in .cu files and in the headers that they alone include', () => {
    expect(isCudaFile('norm_rms.cu', 'norm.rms')).toBe(true);
    expect(isCudaFile('runtime_cuda.h', 'runtime.cuda')).toBe(true);
    expect(isCudaFile('norm_rms.h', 'norm.rms')).toBe(false);
    expect(isCudaFile('text_tokenizer.cpp', 'text.tokenizer')).toBe(false);
    expect(messagesOf('#include <cuda_runtime.h>', 'norm.rms', 'c++')).toHaveLength(1);
    expect(messagesOf('__global__ void k() {}', 'norm.rms', 'c++')).toHaveLength(1);
    expect(messagesOf('#pragma unroll', 'norm.rms', 'c++')).toHaveLength(1);
  });

  it('leave assembly to the one contract that is there for it, and launching to another', () => {
    const assembly = 'asm volatile("bar.sync 0;");';
    expect(messagesOf(assembly, 'cuda.instructions')).toEqual([]);
    expect(messagesOf(assembly, 'runtime.cuda')).toEqual(['asm is not allowed']);
    expect(messagesOf(assembly, 'cuda.instructions', 'c++')).toEqual(['asm is not allowed']);
    const started = 'cudaLaunchConfig_t config{}; check_cuda(cudaLaunchKernelEx(&config, kernel), what);';
    expect(messagesOf(started, 'runtime.cuda')).toEqual([]);
    expect(messagesOf('inline void check_cuda(cudaError_t status) {}', 'runtime.cuda')).toEqual([]);
  });

  it('give the memory of the machine to the contract that hands it out, not to the one that describes it', () => {
    const mapped = 'void* p = mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, -1, 0); munmap(p, 1);';
    expect(messagesOf(mapped, 'runtime.memory', 'c++')).toEqual([]);
    expect(messagesOf(mapped, 'runtime.context', 'c++')).toHaveLength(2);
  });
});

const contracts = fileURLToPath(new URL('../../knowledge/contracts', import.meta.url));

/** Every header and realization of the knowledge base with the contract that it belongs to; no shim is an engine's. */
function listFiles(): { path: string; contract: string }[] {
  return readdirSync(contracts, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:h|cpp|cu)$/.test(path) && !path.endsWith('/shim.cpp'))
    .map((path) => ({ path, contract: path.split('/')[0]!.replace('-', '.') }));
}

it('what knowledge holds keeps the rules, in either language', () => {
  const files = listFiles();
  const all = new Set(files.map(({ path }) => path.split('/').at(-1)!)).add('config.h');
  expect(files.map(({ path }) => path)).toContain('runtime-cuda/runtime_cuda.h');
  expect(files.map(({ path }) => path)).toContain('linear-dense/realizations/cpu-x86_64-f32.cpp');
  const faults = files.flatMap(({ path, contract }) => {
    const language = isCudaFile(path, contract) ? 'cuda' : 'c++';
    const text = readFileSync(join(contracts, path), 'utf8');
    return scanSource(text, { headers: all, contract, language }).map(
      ({ line, message }) => `${path}:${line} ${message}`,
    );
  });
  expect(faults).toEqual([]);
});
