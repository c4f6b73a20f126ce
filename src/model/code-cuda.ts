import { calls, judgeCall, judgeChecker, judgeProperties, judgeStatus, launcher } from './code-cuda-calls.ts';
import { findClosing } from './code-shapes.ts';
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
/** For runtime.cuda alone, whose `launch` checks them. */
const launches = words('cudaLaunchKernelEx cudaLaunchConfig_t');
const checkers = words('check_cuda ignore_cuda engine_stream');
const statuses = words('cudaError_t cudaSuccess cudaStream_t cudaStreamPerThread');
/** Libraries, and order that differs from run to run. */
const foreign = words('cooperative_groups thrust cub nvcuda cuda libcudacxx');
const namesOfOthers = /^(?:cu[A-Z]|CU[a-z_]|nvrtc[A-Z]|cublas|cudnn|nvml[A-Z]|(?:tex|surf)[123]D)/;
/** What asks the compiler about code, and so tells one compiler, or one set of headers, from another. */
const questions = words(
  'decltype typeid alignof requires concept declval void_t enable_if enable_if_t invoke_result',
  'invoke_result_t remove_pointer remove_pointer_t',
);

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
  if (/^atomic(?:[A-Z_]|$)/.test(name)) return `${name} is not allowed: sums must have one order`;
  if (isQuestion(tokens, index)) return `${name} is not allowed: engines ask nothing of the compiler`;
  // A variable, or the word for a device, may have such a name; a namespace is followed by what it holds.
  const isNamespace = tokens[index + 1]?.text === '::' || tokens[index - 1]?.text === 'namespace';
  if ((foreign.has(name) && (isNamespace || tokens[index - 1]?.text === '=')) || namesOfOthers.test(name))
    return `${name} is not allowed: engines use the CUDA runtime's own calls only`;
  if (checkers.has(name)) return judgeChecker(tokens, index, contract);
  if (statuses.has(name)) return judgeStatus(tokens, index, contract);
  if (name === 'cudaDeviceProp') return judgeProperties(tokens, index, contract);
  if (!/^cuda[A-Z]/.test(name) || types.has(name) || /^cudaError[A-Z]\w+$/.test(name)) return undefined;
  if (launches.has(name) && contract !== launcher)
    return `${name} is not allowed: launch(...) of runtime.cuda starts kernels`;
  if (name === 'cudaLaunchConfig_t' || name === 'cudaGetErrorString') return undefined;
  if (!calls.has(name) && !launches.has(name))
    return `${name} is not allowed: it is not among the CUDA calls that engines may use`;
  return judgeCall(tokens, index, contract);
}

function isQuestion(tokens: Tokens, index: number): boolean {
  const name = tokens[index]!.text;
  if (questions.has(name)) return true;
  const isTrait = /^is_\w+_v$/.test(name) || (name.startsWith('is_') && tokens[index - 2]?.text === 'std');
  if (isTrait) return !/^is_same(?:_v)?$/.test(name);
  const next = tokens[index + 1];
  if (name === 'noexcept') return next?.text === '(';
  if (name !== 'sizeof' || next?.text === '.') return false;
  // The size of a type or a variable by its name is all that is needed.
  if (next?.text !== '(')
    return next?.kind !== 'identifier' || /^(?:[(.{]|->|::)$/.test(tokens[index + 2]?.text ?? '');
  const close = findClosing(tokens, index + 1) ?? index;
  return tokens.slice(index + 2, close).some(({ text }) => /^(?:[(.{]|->|cuda\w+)$/.test(text));
}

/** Names by which a program could tell the host emulation of CUDA from a device, in any language. */
export function judgePlace(name: string): string | undefined {
  return /^(?:cuda_emulation|CUDA(?:RT)?_\w*|CUDART\w*|NVCC\w*|Emulated[A-Z]\w*|emulated_\w+)$/.test(name)
    ? `${name} is not allowed: an engine does not ask where it runs`
    : undefined;
}

/** Beside CUDA C++: it includes no header of CUDA's, and calls what contracts declare. */
export function judgeNameBeside(name: string): string | undefined {
  return /^cuda[A-Z]\w*$/.test(name) || checkers.has(name)
    ? `${name} is not allowed but in CUDA C++`
    : undefined;
}

/** Memory is for host code to take: `new` and `delete` within the functions of a device. */
export function findDeviceMemory(tokens: Tokens): number[] {
  return tokens.flatMap(({ text }, index) => {
    if (text !== '__global__' && text !== '__device__') return [];
    const [start, end] = findBody(tokens, index);
    const found: number[] = [];
    for (let at = start; at < end; at++) if (/^(?:new|delete)$/.test(tokens[at]!.text)) found.push(at);
    return found;
  });
}

/** Of the function that is declared at `index`, its initializers included; empty where it has none. */
function findBody(tokens: Tokens, index: number): [number, number] {
  let at = index + 1;
  while (at < tokens.length && !/^[{;=]$/.test(tokens[at]!.text))
    at = (tokens[at]!.text === '(' ? (findClosing(tokens, at) ?? tokens.length) : at) + 1;
  let end = at;
  while (tokens[end]?.text === '{' || tokens[end]?.text === ',') {
    while (end < tokens.length && !/^[{;]$/.test(tokens[end]!.text)) end++;
    end = (findClosing(tokens, end) ?? tokens.length) + 1;
  }
  return [at, Math.min(end, tokens.length)];
}
