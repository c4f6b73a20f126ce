import type { GpuPlatform, Platform } from '../model/catalog.ts';

/** Flags that CMake states in its own words, and -Werror, which belongs to the harness, not to a person's compiler. */
const statedByCmake = /^-(?:std=.*|O\d|Werror|pthread)$/;

/** Builds the engine without any of our tools: `cmake -B build && cmake --build build`. */
export function renderCmake(
  name: string,
  sources: readonly string[],
  platform: Platform,
  arch: string,
): string {
  const { gpu } = platform;
  const flags = [
    ...platform.flags.filter((flag) => !statedByCmake.test(flag)),
    ...(platform.archs[arch]?.flags ?? []),
  ];
  const options = gpu === undefined ? flags.join(' ') : gpuOptions(flags, gpu);
  return `# SPDX-License-Identifier: MIT
# Build by hand: cmake -B build && cmake --build build -j
cmake_minimum_required(VERSION ${gpu === undefined ? '3.16' : '3.20'})
project(${name} LANGUAGES CXX${gpu === undefined ? '' : ' CUDA'})
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# -O2, not CMake's -O3: the optimisation level that the engine was verified at.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
${gpu === undefined ? '' : gpuSettings(arch)}find_package(Threads REQUIRED)
add_executable(engine
${sources.map((source) => `  ${source}`).join('\n')}
)
target_compile_options(engine PRIVATE ${options})
target_link_libraries(engine PRIVATE Threads::Threads)
`;
}

/** Machine code for the one architecture and nothing that a driver would compile later. */
function gpuSettings(arch: string): string {
  return `set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_ARCHITECTURES ${arch.replace(/^sm_/, '')}-real)
set(CMAKE_CUDA_FLAGS_RELEASE "-O2")
`;
}

function gpuOptions(hostFlags: readonly string[], gpu: GpuPlatform): string {
  const own = ownFlags(gpu).filter((flag) => !statedByCmake.test(flag));
  const forCompiler = (language: string, flags: readonly string[]): string[] =>
    flags.map((flag) => `  "$<$<COMPILE_LANGUAGE:${language}>:${flag}>"`);
  return `\n${[...forCompiler('CXX', hostFlags), ...forCompiler('CUDA', own)].join('\n')}\n`;
}

/** Without what only the harness asks for: warnings as errors, and the resource report. */
function ownFlags({ flags }: GpuPlatform): string[] {
  return flags
    .filter((flag) => !/^-(?:Werror|Xptxas)\b/.test(flag))
    .map((flag) => flag.replace(/,-(?:Werror|pthread)(?=,|$)/g, ''));
}

/** One command line without CMake. */
export function renderCompile({ compilers, flags, archs, gpu }: Platform, arch: string): string {
  const own = [...flags, ...(archs[arch]?.flags ?? [])].join(' ');
  if (gpu === undefined) return `${compilers[0] ?? 'g++'} ${own} *.cpp -o build/engine`;
  return `${gpu.compiler.command} ${ownFlags(gpu).join(' ')} -arch=${arch} *.cu *.cpp -o build/engine`;
}
