import { describe, expect, it } from 'vitest';
import { scanSource } from '../../src/model/code-rules.ts';

function messagesOf(text: string, contract = 'norm.rms', language: 'c++' | 'cuda' = 'cuda'): string[] {
  return scanSource(text, { headers: new Set(), contract, language }).map(({ message }) => message);
}

const asked = 'cudaDeviceProp seen{}; check_cuda(cudaGetDeviceProperties(&seen, 0), "x");';

const groups: Record<string, [RegExp, string[]]> = {
  'what tells emulation from a device': [
    /does not ask where it runs|ask nothing of the compiler|implementation's|engines may ask|cudaDeviceProp is not/,
    [
      'const bool fake = sizeof(cudaDeviceProp) < 900;',
      'size_t n = sizeof(cudaLaunchAttribute);',
      `${asked} size_t n = sizeof seen;`,
      `${asked} size_t n = sizeof(seen);`,
      'struct S { cudaDeviceProp held; }; size_t n = sizeof(S);',
      'cudaDeviceProp seen; size_t n = 1;',
      'using P = cudaDeviceProp;',
      'std::vector<cudaDeviceProp> all;',
      `${asked} auto copy = seen;`,
      `${asked} if (seen.totalGlobalMem < 1) return;`,
      `${asked} if (seen.name[0] == 'h') return;`,
      `${asked} if (std::string(seen.name) == "host emulation") return;`,
      `${asked} if (strcmp(seen.name, "host emulation") == 0) return;`,
      'namespace cuda_emulation { constexpr bool is_here = true; }',
      'using namespace cuda_emulation;',
      'cuda_emulation::own_stream();',
      'void f(CUDA_EMULATION_LINE);',
      'int v = CUDA_VERSION;',
      'int v = CUDART_VERSION;',
      'int v = __NVCC__;',
      'int v = __CUDA_ARCH__;',
      'int v = __CUDACC_VER_MAJOR__;',
      'EmulatedGraph* graph;',
      'size_t n = alignof(cudaDeviceProp);',
      'decltype(cudaGetLastError()) status;',
      'auto& type = typeid(__half);',
      'bool v = requires(__half h) { h.bits; };',
      'template <typename T> concept HasBits = true;',
      'bool v = noexcept(__ldg(p));',
      'bool v = std::is_aggregate_v<__half>;',
      'bool v = std::is_aggregate<__half>::value;',
      'size_t n = sizeof(__half{}.bits);',
      'size_t n = sizeof x.bits;',
    ],
  ],
  'calls whose status nobody looks at': [
    /unchecked CUDA call|looks at what a CUDA call returns|as a statement of its own/,
    [
      'const cudaError_t status = cudaMalloc(&p, 1); (void)(status != cudaSuccess);',
      'const cudaError_t status = cudaMalloc(&p, 1); if (status != cudaSuccess) throw 1;',
      'check_cuda(cudaGetLastError() == cudaSuccess ? cudaSuccess : cudaSuccess, "x");',
      'check_cuda(cudaMalloc(&p, 1), cudaSuccess);',
      'check_cuda(cudaMalloc(&p, 1));',
      'check_cuda(cudaMalloc(&p, 1) && 0, "x");',
      'check_cuda((cudaMalloc(&p, 1)), "x");',
      'check_cuda(true ? cudaMalloc(&p, 1) : cudaMalloc(&q, 1), "x");',
      'check_cuda(cudaMalloc(&p, 1), ("x", "y"));',
      'own::check_cuda(cudaMalloc(&p, 1), "x");',
      'void check_cuda(cudaMalloc(x), const char*) {}',
      'inline void check_cuda(cudaError_t(status), const char* what) {}',
      'auto status = cudaMalloc(&p, 1);',
      'bool f(cudaError_t status) { return status != cudaSuccess; }',
      'struct check_cuda {};',
      'ignore_cuda(cudaMalloc(&p, 1));',
      'ignore_cuda(cudaStreamEndCapture(engine_stream(), &graph));',
      'ignore_cuda(cudaFree(p), 1);',
    ],
  ],
  'streams of their own': [
    /with engine_stream\(\) as its stream|engine_stream/,
    [
      'check_cuda(cudaMemcpyAsync(a, b, 1, cudaMemcpyDefault), "x");',
      'check_cuda(cudaMemcpyAsync(a, b, 1, cudaMemcpyDefault, nullptr), "x");',
      'check_cuda(cudaMemcpyAsync(a, b, 1, cudaMemcpyDefault, 0), "x");',
      'check_cuda(cudaMemsetAsync(a, 0, 1, own), "x");',
      'check_cuda(cudaStreamSynchronize(0), "x");',
      'check_cuda(cudaGraphLaunch(ready, nullptr), "x");',
      'cudaStream_t own;',
      'auto own = cudaStreamPerThread;',
      'auto engine_stream() { return nullptr; }',
    ],
  ],
  'what a kernel has no need of': [
    /is not allowed/,
    [
      '__global__ void k() { printf("x"); }',
      '__global__ void k() { long t = clock64(); }',
      '__global__ void k() { long t = clock(); }',
      '__global__ void k() { __nanosleep(100); }',
      '__global__ void k() { float* p = new float[4]; }',
      '__global__ void __launch_bounds__(32) k(int n = 0) { if (n) { delete p; } }',
      '__device__ S::S(int n) : a{n}, b(n) { c = new int; }',
      'auto f = [] __device__(int i) { return new int(i); };',
      '__global__ void k() { void* p = malloc(4); }',
      'std::atomic<int> count;',
      'std::atomic_ref<int> count(x);',
      'cuda::atomic_ref<int> count(x);',
      'thrust::sort(a, b);',
      'namespace t = thrust;',
      'using namespace nvcuda;',
      'cub::WarpReduce<int> reduce;',
      'namespace cg = cooperative_groups;',
      '#include <cuda/atomic>',
    ],
  ],
};

describe('CUDA C++ may hold', () => {
  for (const [group, [message, texts]] of Object.entries(groups)) {
    it.each(texts)(`nothing of ${group}: %s`, (text) => {
      expect(messagesOf(text)).toContainEqual(expect.stringMatching(message));
    });
  }
});

describe('runtime.memory says in words that memory ran out', () => {
  const failed = 'const cudaError_t status = cudaMalloc(&p, 1);';

  it.each([
    `${failed} if (status != cudaSuccess) throw 1;`,
    `${failed} if (status != cudaSuccess || devices == 0) { throw 1; }`,
    `${asked} throw EngineError(std::string(seen.name) + std::to_string(seen.totalGlobalMem));`,
  ])('%s', (text) => {
    expect(messagesOf(text, 'runtime.memory')).toEqual([]);
    expect(messagesOf(text)).not.toEqual([]);
  });

  it.each([
    `${failed} (void)(status != cudaSuccess);`,
    `${failed} if (status != cudaSuccess) return;`,
    `${failed} if (status != cudaSuccess && false) throw 1;`,
    `${failed} if (status != cudaSuccess || true ? false : true) throw 1;`,
    `${failed} use(); if (status != cudaSuccess) throw 1;`,
    `${failed} if (status == cudaSuccess) throw 1;`,
    'cudaError_t status = cudaSuccess;',
    `${asked} if (std::string(seen.name) == "x") return;`,
    `${asked} if (std::string(seen.name).starts_with("x")) return;`,
    `${asked} return seen.multiProcessorCount;`,
  ])('but not so: %s', (text) => {
    expect(messagesOf(text, 'runtime.memory')).not.toEqual([]);
  });
});

it.each(['cudaFree(p);', 'check_cuda(1, "x");', 'int v = CUDA_VERSION;', 'use(cuda_emulation::current);'])(
  'C++ of another language calls nothing of CUDA: %s',
  (text) => {
    expect(messagesOf(text, 'norm.rms', 'c++')).not.toEqual([]);
  },
);
