import type { CppToken } from './cpp-tokens.ts';

type Tokens = readonly CppToken[];

/** Header-only contracts that .cu files alone include. */
const cudaHeaders: ReadonlySet<string> = new Set(['cuda.instructions', 'linear.fragments', 'runtime.cuda']);

/** Whether a file of an engine is written in CUDA C++. */
export function isCudaFile(file: string, contract: string | null): boolean {
  return file.endsWith('.cu') || (file.endsWith('.h') && cudaHeaders.has(contract ?? ''));
}

export const cudaIncludes: ReadonlySet<string> = new Set(['cuda_bf16.h', 'cuda_fp16.h', 'cuda_runtime.h']);

export const cudaDirective = /^#pragma unroll(?: \d+)?[ \t]*(?:\/\/.*)?$/;

/** Words of CUDA C++ that begin with an underscore: those that the host emulation knows, and no others. */
export const cudaReserved: readonly RegExp[] = [
  /^__(?:global|device|host|shared|forceinline|launch_bounds)__$/,
  /^__(?:syncthreads|syncwarp|shfl_sync|shfl_xor_sync|shfl_down_sync|ldg|expf|fdividef)$/,
  /^__(?:float2bfloat16_rn|bfloat162float|bfloat16_as_ushort|ushort_as_bfloat16)$/,
  /^__(?:float2half_rn|half2float|half_as_ushort|ushort_as_half)$/,
  /^__(?:float_as_uint|uint_as_float|int_as_float)$/,
  /^__(?:half|nv_bfloat16)$/,
];

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(' ').split(/\s+/));
}

const types = words(
  'cudaError_t cudaStream_t cudaGraph_t cudaGraphExec_t cudaDeviceProp cudaSuccess cudaStreamPerThread',
  'cudaMemcpyDefault cudaMemcpyHostToDevice cudaMemcpyDeviceToHost cudaMemcpyDeviceToDevice',
  'cudaStreamCaptureModeThreadLocal',
);
const calls = words(
  'cudaMalloc cudaFree cudaMallocHost cudaFreeHost cudaMemcpyAsync cudaMemcpy2DAsync cudaMemsetAsync',
  'cudaStreamSynchronize cudaStreamBeginCapture cudaStreamEndCapture cudaGraphInstantiate cudaGraphLaunch',
  'cudaGraphExecDestroy cudaGraphDestroy cudaGetDeviceCount cudaGetDeviceProperties cudaSetDevice cudaGetLastError',
);
/** What may fail unheard, for nothing is lost with it and destructors throw nothing. */
const releases = words('cudaFree cudaFreeHost cudaGraphExecDestroy cudaGraphDestroy cudaStreamEndCapture');
/** For runtime.cuda alone, whose `launch` checks them. */
const launches = words('cudaLaunchKernelEx cudaLaunchConfig_t');
const launcher = 'runtime.cuda';

/** `<<<`, which launches without telling whether it worked. No other C++ has it. */
export function judgeLaunch(tokens: Tokens, index: number): string | undefined {
  const isTriple = [0, 1, 2].every((step) => tokens[index + step]?.text === '<');
  // Of four signs there are two such runs; one message says it.
  if (!isTriple || tokens[index - 1]?.text === '<') return undefined;
  return '<<< is not allowed: launch(...) of runtime.cuda starts kernels, and checks that they start';
}

/** An identifier of CUDA's own in a .cu file or a header for such files. */
export function judgeCudaName(tokens: Tokens, index: number, contract: string | null): string | undefined {
  const name = tokens[index]!.text;
  if (/^atomic[A-Z]/.test(name)) return `${name} is not allowed: sums must have one order`;
  if (
    /^(?:cu[A-Z]|CU[a-z_]|nvrtc[A-Z]|cublas|cudnn|nvml[A-Z]|(?:tex|surf)[123]D|cooperative_groups$)/.test(
      name,
    )
  )
    return `${name} is not allowed: engines use the CUDA runtime's own calls only`;
  if (name === 'check_cuda' || name === 'ignore_cuda') return judgeChecker(tokens, index, contract);
  if (!/^cuda[A-Z]/.test(name) || types.has(name) || /^cudaError[A-Z]\w+$/.test(name)) return undefined;
  if (launches.has(name) && contract !== launcher)
    return `${name} is not allowed: launch(...) of runtime.cuda starts kernels`;
  if (name === 'cudaLaunchConfig_t' || name === 'cudaGetErrorString') return undefined;
  if (!calls.has(name) && !launches.has(name))
    return `${name} is not allowed: it is not among the CUDA calls that engines may use`;
  return judgeCall(tokens, index);
}

function judgeCall(tokens: Tokens, index: number): string | undefined {
  const name = tokens[index]!.text;
  if (tokens[index + 1]?.text !== '(') return `${name} is not allowed but where it is called`;
  const start = tokens[index - 1]?.text === '::' ? index - 1 : index;
  const around = tokens[start - 1]?.text === '(' ? tokens[start - 2]?.text : undefined;
  if (around === 'check_cuda' || (around === 'ignore_cuda' && releases.has(name))) return undefined;
  if (isKept(tokens, start)) return undefined;
  const ways = `check_cuda(${name}(...), what)${releases.has(name) ? `, or ignore_cuda(${name}(...)) where an object lets go` : ''}`;
  return `unchecked CUDA call: ${name} must stand in ${ways}`;
}

/** `cudaError_t status = call(...)`, where what came of it is compared further on. */
function isKept(tokens: Tokens, start: number): boolean {
  const status = tokens[start - 2];
  if (tokens[start - 1]?.text !== '=' || status?.kind !== 'identifier') return false;
  if (tokens[start - 3]?.text !== 'cudaError_t') return false;
  return tokens.some(
    (token, at) =>
      at > start &&
      token.text === status.text &&
      /^[!=]=$/.test(tokens[at + 1]?.text ?? '') &&
      tokens[at + 2]?.text === 'cudaSuccess',
  );
}

/** Nobody but runtime.cuda says what checking means. */
function judgeChecker(tokens: Tokens, index: number, contract: string | null): string | undefined {
  if (contract === launcher) return undefined;
  const inner = tokens[index + 2]?.text === '::' ? index + 3 : index + 2;
  const isCall = /^cuda[A-Z]/.test(tokens[inner]?.text ?? '') && tokens[inner + 1]?.text === '(';
  if (tokens[index + 1]?.text === '(' && isCall) return undefined;
  return `${tokens[index]!.text} is not allowed but around a CUDA call`;
}
