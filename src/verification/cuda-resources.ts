import type { GpuPlatform } from '../model/catalog.ts';
import type { Measurements } from '../model/report.ts';

/** What ptxas says that one kernel uses on one architecture. */
export interface KernelResources {
  readonly source: string;
  /** Mangled. */
  readonly symbol: string;
  /** Compute capability without its point: `90`. */
  readonly architecture: string;
  readonly registers: number;
  /** Most of what it and the functions that it calls write to, or read back from, local memory for want of registers. */
  readonly spillBytes: number;
  readonly stackBytes: number;
  /** Static. */
  readonly sharedBytes: number;
}

const entry = /^ptxas info\s*: Compiling entry function '(?<symbol>[\w$.]+)' for 'sm_(?<architecture>\w+)'/;
const frame =
  /^\s+(?<stack>\d+) bytes stack frame, (?<stores>\d+) bytes spill stores, (?<loads>\d+) bytes spill loads/;
const used = /^ptxas info\s*: Used (?<registers>\d+) registers/;

/** Reads what `ptxas -v` wrote while it compiled one source. */
export function readResources(source: string, text: string): KernelResources[] {
  const kernels: KernelResources[] = [];
  for (const line of text.split('\n')) {
    const start = entry.exec(line)?.groups;
    if (start !== undefined) {
      kernels.push({
        ...{ source, symbol: start.symbol!, architecture: start.architecture! },
        ...{ registers: 0, spillBytes: 0, stackBytes: 0, sharedBytes: 0 },
      });
      continue;
    }
    const last = kernels.at(-1);
    if (last !== undefined) kernels[kernels.length - 1] = addLine(last, line);
  }
  return kernels;
}

function addLine(kernel: KernelResources, line: string): KernelResources {
  const spilled = frame.exec(line)?.groups;
  if (spilled !== undefined) {
    // A function that is called and not inlined has a frame of its own.
    const spillBytes = Math.max(kernel.spillBytes, Number(spilled.stores), Number(spilled.loads));
    return { ...kernel, spillBytes, stackBytes: kernel.stackBytes + Number(spilled.stack) };
  }
  const registers = used.exec(line)?.groups?.registers;
  if (registers === undefined) return kernel;
  const sharedBytes = Number(/(\d+)(?:\+\d+)? bytes smem/.exec(line)?.[1] ?? 0);
  return { ...kernel, registers: Number(registers), sharedBytes };
}

/** One kernel that uses more than it may, on one architecture. */
export interface ResourceFault {
  readonly kernel: KernelResources;
  /** `64 bytes of spilled registers`. */
  readonly got: string;
  readonly wanted: string;
}

export function judgeResources(
  kernels: readonly KernelResources[],
  limits: GpuPlatform['limits'],
): ResourceFault[] {
  return kernels.flatMap((kernel) => {
    const measured: readonly (readonly [number, number, string])[] = [
      [kernel.spillBytes, limits.spillBytes, 'bytes of spilled registers'],
      [kernel.registers, limits.registersPerThread, 'registers a thread'],
      [kernel.sharedBytes, limits.sharedBytesPerBlock, 'bytes of shared memory a block'],
    ];
    return measured
      .filter(([value, limit]) => value > limit)
      .map(([value, limit, what]) => ({
        kernel,
        got: `${value} ${what}`,
        wanted: `at most ${limit} ${what}`,
      }));
  });
}

/** The worst of all kernels, for the report's table. */
export function summarizeResources(kernels: readonly KernelResources[]): Measurements {
  const largest = (value: (kernel: KernelResources) => number) => Math.max(0, ...kernels.map(value));
  return {
    kernels: new Set(kernels.map(({ source, symbol }) => `${source} ${symbol}`)).size,
    architectures: [...new Set(kernels.map(({ architecture }) => `sm_${architecture}`))].sort().join(' '),
    max_registers: largest(({ registers }) => registers),
    max_spill_bytes: largest(({ spillBytes }) => spillBytes),
    max_shared_bytes: largest(({ sharedBytes }) => sharedBytes),
  };
}
