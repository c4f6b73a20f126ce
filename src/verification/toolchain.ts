import type { GpuPlatform } from '../model/catalog.ts';
import type { Limits, Sandbox } from './sandbox.ts';

/** How this run compiles: one compiler, one cache, one sandbox. */
export interface Toolchain {
  /** Absolute path of g++. */
  readonly compiler: string;
  /** First line of `g++ --version`. */
  readonly version: string;
  /** Of the platform, e.g. `-mavx2 -mfma -mf16c`. */
  readonly flags: readonly string[];
  readonly cacheFolder: string;
  readonly jobs: number;
  readonly sandbox: Sandbox;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** Where the engine has .cu sources. */
  readonly cuda?: CudaToolchain;
}

/** How .cu sources are compiled here, and whether what comes of it can run. */
export interface CudaToolchain extends CudaToolkit {
  /** Of the platform: everything but -gencode. */
  readonly flags: readonly string[];
  /** Compute capabilities without their point, each of which the engine is compiled for. */
  readonly architectures: readonly string[];
  readonly limits: GpuPlatform['limits'];
  /** compile-only: this machine has no device, so that no engine runs on one. */
  readonly mode: 'compile-only' | 'device';
  /** Device files that an engine's process may open; none in compile-only mode. */
  readonly deviceFiles: readonly string[];
  /** The headers that let .cu sources be compiled for the host. */
  readonly emulationFolder: string;
}

/** An installed CUDA toolkit. All paths are absolute and without links. */
export interface CudaToolkit {
  /** nvcc itself, not a script that calls it. */
  readonly compiler: string;
  /** The line of `nvcc --version` with release and build. */
  readonly version: string;
  readonly folder: string;
  /** libcudart_static.a. */
  readonly runtimeLibrary: string;
}
