import { join } from 'node:path';
import type { GpuPlatform, Platform } from '../model/catalog.ts';
import { AppError } from '../model/errors.ts';
import type { PreparedEngine } from '../preparation/prepare-engine.ts';
import { buildProgram, findToolchain } from '../verification/build.ts';
import { openCacheFolder } from '../verification/cache-folder.ts';
import { listDeviceFiles, queryDevices } from '../verification/cuda-devices.ts';
import { type FoundToolkit, findCudaToolkit, usualCompilers } from '../verification/cuda-toolkit.ts';
import { listSources } from '../verification/gates/build.ts';
import { probeSandbox } from '../verification/sandbox.ts';
import { sweepCache } from '../verification/scratch-folder.ts';
import { findSourceFolder } from '../verification/source-folder.ts';
import type { CudaToolchain, Toolchain } from '../verification/toolchain.ts';
import { requireTrustedCode } from './foreign-files.ts';

/**
 * How this machine compiles and runs the engine in `folder`; undefined where the code is the caller's own composition.
 * Removes from the cache what killed commands left there.
 * @throws AppError TOOL_MISSING where g++ or nvcc is absent or too old or the cache cannot be written,
 * SANDBOX_UNAVAILABLE for foreign code without a sandbox
 */
export async function openToolchain(
  prepared: PreparedEngine,
  folder: string | undefined,
  options: { readonly cacheFolder: string; readonly sandbox: 'auto' | 'off'; readonly signal: AbortSignal },
): Promise<Toolchain> {
  for (const folder of [options.cacheFolder, join(options.cacheFolder, 'objects')]) openCacheFolder(folder);
  sweepCache(options.cacheFolder);
  const { arch } = prepared.request.constraints.hardware;
  const sandbox = probeSandbox(options.sandbox);
  if (folder !== undefined) await requireTrustedCode(prepared, folder, sandbox);
  const { gpu } = prepared.platform;
  const toolchain = await findToolchain({
    compiler: '/usr/bin/g++',
    flags: prepared.platform.archs[arch]?.flags ?? [],
    cacheFolder: join(options.cacheFolder, 'objects'),
    jobs: 2,
    sandbox,
    signal: options.signal,
    ...(gpu === undefined ? {} : { cuda: await openCuda(prepared.platform, gpu) }),
  });
  const major = Number(/(\d+)\.\d+/.exec(toolchain.version.replace(/\(.*?\)/, ''))?.[1] ?? 0);
  if (major < 12)
    throw new AppError('TOOL_MISSING', `${toolchain.version} is too old; g++ 12 or newer is needed.`);
  return toolchain;
}

/** Where the parts of CUDA are looked for; tests look elsewhere. */
export interface CudaPlaces {
  readonly compilers: readonly string[];
  readonly deviceFolder: string;
  readonly smi: string;
}

const usualPlaces: CudaPlaces = { compilers: usualCompilers, deviceFolder: '/dev', smi: 'nvidia-smi' };

/** @throws AppError TOOL_MISSING where no toolkit is installed, or it is too old or lacks a part */
export async function openCuda(
  platform: Pick<Platform, 'archs'>,
  gpu: Pick<GpuPlatform, 'compiler' | 'flags' | 'limits'>,
  places: CudaPlaces = usualPlaces,
): Promise<CudaToolchain> {
  const { runtimeLibrary, compiler, folder, version } = requireToolkit(
    await findCudaToolkit(places.compilers),
    gpu.compiler.minimumMajor,
    places.compilers,
  );
  const files = listDeviceFiles(places.deviceFolder);
  // A device file may be left over, or its driver not answer: then nothing could run, and reports must say so.
  const hasDevice = files.length > 0 && ((await queryDevices(places.smi)) ?? []).length > 0;
  return {
    ...{ compiler, folder, version, runtimeLibrary },
    flags: gpu.flags,
    architectures: Object.keys(platform.archs).map((arch) => arch.replace(/^sm_/, '')),
    limits: gpu.limits,
    mode: hasDevice ? 'device' : 'compile-only',
    deviceFiles: hasDevice ? files : [],
    emulationFolder: findSourceFolder('cuda-emulation', 'cuda_runtime.h'),
  };
}

function requireToolkit(
  found: FoundToolkit | undefined,
  minimumMajor: number,
  looked: readonly string[],
): FoundToolkit & { readonly runtimeLibrary: string } {
  const install = `Install the CUDA toolkit, ${minimumMajor} or newer (https://developer.nvidia.com/cuda-downloads; no driver and no GPU is needed to compile).`;
  if (found === undefined) {
    const message = `nvcc is not installed: none of ${looked.join(', ')} runs. ${install}`;
    throw new AppError('TOOL_MISSING', message);
  }
  if (found.major < minimumMajor)
    throw new AppError('TOOL_MISSING', `${found.version} in ${found.folder} is too old. ${install}`);
  const { runtimeLibrary } = found;
  if (runtimeLibrary === undefined) {
    const message = `The CUDA toolkit in ${found.folder} has no libcudart_static.a, which engines are linked with. ${install}`;
    throw new AppError('TOOL_MISSING', message);
  }
  return { ...found, runtimeLibrary };
}

/**
 * For commands that run a whole engine and nothing else: compiling one for a GPU takes minutes.
 * @throws AppError TOOL_MISSING where the engine is for a GPU and this machine has none
 */
export function requireDevice({ cuda }: Pick<Toolchain, 'cuda'>): void {
  if (cuda === undefined || cuda.mode === 'device') return;
  throw new AppError(
    'TOOL_MISSING',
    'This engine runs on an NVIDIA GPU, and this machine has none that its driver answers for. Run it on a machine where `nvidia-smi` lists a GPU; `metainfer verify` checks it here as far as that goes without one.',
  );
}

/** The engine's binary, compiled or from the cache. @throws AppError ENGINE_INVALID with the compiler's first errors */
export async function buildBinary(folder: string, toolchain: Toolchain): Promise<string> {
  const { binary, diagnostics } = await buildProgram(toolchain, {
    folder,
    sources: listSources(folder),
    sanitize: false,
    target: toolchain.cuda === undefined ? 'host' : 'device',
  });
  if (binary !== undefined) return binary;
  const lines = diagnostics
    .slice(0, 5)
    .map((entry) => `- ${entry.file}${entry.line === null ? '' : `:${entry.line}`} ${entry.message}`);
  throw new AppError('ENGINE_INVALID', `The engine in ${folder} does not compile:\n${lines.join('\n')}`);
}
