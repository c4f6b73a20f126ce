import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCuda } from '../../../src/local/toolchain.ts';
import { type BuildResult, buildProgram, findToolchain } from '../../../src/verification/build.ts';
import { judgeResources, summarizeResources } from '../../../src/verification/cuda-resources.ts';
import { demangle } from '../../../src/verification/demangle.ts';
import { probeSandbox } from '../../../src/verification/sandbox.ts';
import { runSandboxed } from '../../../src/verification/sandboxed-process.ts';
import type { Toolchain } from '../../../src/verification/toolchain.ts';
import { isLacking } from '../../fixtures/needed-tool.ts';

const sandbox = probeSandbox('auto');
const program = fileURLToPath(new URL('program', import.meta.url));
const limits = { registersPerThread: 255, spillBytes: 0, sharedBytesPerBlock: 49152 };
const gpu = {
  compiler: { command: 'nvcc', minimumMajor: 12 },
  flags: ['-std=c++20', '-O2', '-Xcompiler=-Wall,-Wextra,-Werror', '-Werror=all-warnings', '-Xptxas=-v'],
  limits,
};
const archs = { flags: [], vectorWidth: 1, cpuFlags: [] };
const root = mkdtempSync(join(tmpdir(), 'metainfer-cuda-'));
let toolchain: Toolchain;
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The program in a folder of its own, with one text in its scale.cu replaced. */
function writeProgram(name: string, from = '', to = ''): string {
  const folder = join(root, name);
  cpSync(program, folder, { recursive: true });
  const file = join(folder, 'scale.cu');
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(from);
  writeFileSync(file, text.replace(from, to));
  return folder;
}

const sources = ['main.cpp', 'scale.cu'];

function build(folder: string, target: 'device' | 'emulation', sanitize = false): Promise<BuildResult> {
  return buildProgram(toolchain, { folder, sources, sanitize, target });
}

/** For one architecture, which takes half the time: what is wrong is wrong on all. */
async function diagnose(folder: string) {
  const cuda = { ...toolchain.cuda!, architectures: ['90'] };
  const request = { folder, sources, sanitize: false, target: 'device' } as const;
  const { binary, diagnostics } = await buildProgram({ ...toolchain, cuda }, request);
  expect(binary).toBeUndefined();
  return diagnostics[0]!;
}

async function run(binary: string | undefined): Promise<string> {
  const end = await runSandboxed({ sandbox, command: [binary!], readOnlyPaths: [binary!] });
  return end.stdout.toString('utf8') + end.stderr.toString('utf8');
}

describe.skipIf(isLacking('nvcc'))('sources in CUDA C++', () => {
  beforeAll(async () => {
    const cuda = await openCuda({ archs: { sm_80: archs, sm_90: archs } }, gpu);
    toolchain = await findToolchain({
      ...{ compiler: '/usr/bin/g++', flags: [], cacheFolder: join(root, 'cache'), jobs: 2, sandbox, cuda },
    });
  });

  it('are compiled for every architecture, and what their kernels use is known from the cache as well', async () => {
    const folder = writeProgram('device');
    const first = await build(folder, 'device');
    expect(first.diagnostics).toEqual([]);
    expect(first).toMatchObject({ compiled: 2, cached: 0 });
    expect(first.resources.map(({ source, architecture }) => [source, architecture])).toEqual([
      ['scale.cu', '80'],
      ['scale.cu', '90'],
    ]);
    for (const kernel of first.resources) {
      expect(kernel).toMatchObject({ spillBytes: 0, stackBytes: 0, sharedBytes: 64 * 4 * 4 });
      expect(kernel.registers).toBeGreaterThan(4);
    }
    const [symbol] = first.resources.map((kernel) => kernel.symbol);
    expect((await demangle(toolchain, [symbol!])).get(symbol!)).toBe('scale_kernel<4>');
    expect(summarizeResources(first.resources)).toMatchObject({
      ...{ kernels: 1, architectures: 'sm_80 sm_90', max_spill_bytes: 0, max_shared_bytes: 1024 },
    });
    const again = await build(writeProgram('device-again'), 'device');
    expect(again).toMatchObject({ compiled: 0, cached: 2, binary: first.binary, resources: first.resources });
    const noDevice = /^failed: .*(?:driver|no CUDA-capable device)/;
    expect(await run(first.binary)).toMatch(toolchain.cuda!.mode === 'device' ? /^/ : noDevice);
  });

  it('run on the host in emulation, where the harness has its own header of instructions', async () => {
    const built = await build(writeProgram('emulation'), 'emulation');
    expect(built.diagnostics).toEqual([]);
    expect(built.resources).toEqual([]);
    expect(await run(built.binary)).toBe('256 382\n');
    // Without the barrier a thread reads what another has yet to write.
    const broken = await build(writeProgram('unsynced', '__syncthreads();', ''), 'emulation');
    expect(broken.diagnostics).toEqual([]);
    expect(await run(broken.binary)).not.toBe('256 382\n');
  });

  it('are sanitized in emulation: a write behind device memory ends the program and names the line', async () => {
    const folder = writeProgram('beyond', 'if (at < count) values[at]', 'values[at]');
    const built = await build(folder, 'emulation', true);
    expect(built.diagnostics).toEqual([]);
    expect(await run(built.binary)).toMatch(/AddressSanitizer[\s\S]*scale\.cu:24/);
  });

  it.each([
    [
      'a name that nobody declared',
      'values[at] = tile[at]',
      'values[at] = file[at]',
      24,
      /"file" is undefined/,
    ],
    [
      'a warning of the device compiler',
      '  __syncthreads();',
      '  int unused;\n  __syncthreads();',
      20,
      /never referenced/,
    ],
    ['a warning of the host compiler', 'size_t bytes =', 'size_t bytes = 1 - 2 < 0u ? 1 :', 30, /.*/],
    [
      'an unknown include',
      '#include <cuda_runtime.h>',
      '#include <nowhere.h>',
      2,
      /nowhere\.h: No such file/,
    ],
  ])('%s comes back with its line', async (name, from, to, line, message) => {
    const diagnostic = await diagnose(writeProgram(name.replaceAll(' ', '-'), from, to));
    expect(diagnostic).toMatchObject({ file: 'scale.cu', line });
    expect(diagnostic.message).toMatch(message);
  });

  it.each([
    [
      'more shared memory than a block can have',
      'tile[threads * values_per_thread]',
      'tile[threads * values_per_thread * 64]',
      /too much shared data/,
    ],
    [
      'a function that no object has',
      'const size_t bytes',
      'extern int lost; if (lost > 0) return cudaSuccess;\n  const size_t bytes',
      /undefined reference to .*lost/,
    ],
    [
      'a device function that no source has',
      '#pragma unroll',
      'factor = nowhere(factor);\n#pragma unroll',
      /Unresolved extern function/,
    ],
  ])('%s comes back with its source', async (name, from, to, message) => {
    const folder = writeProgram(name.replaceAll(' ', '-'), from, to);
    const file = join(folder, 'scale.cu');
    if (to.includes('nowhere('))
      writeFileSync(file, `__device__ float nowhere(float);\n${readFileSync(file, 'utf8')}`);
    const diagnostic = await diagnose(folder);
    expect(diagnostic).toMatchObject({ file: 'scale.cu', line: null });
    expect(diagnostic.message).toMatch(message);
  });

  it('spill registers where too many values are kept, which is told by kernel and architecture', async () => {
    const many =
      'float kept[96]; for (int i = 0; i < 96; ++i) kept[i] = values[i * 7];\n  __syncthreads();\n#pragma unroll\n  for (int i = 0; i < 96; ++i) factor += kept[i] * kept[95 - i] * values[i];\n';
    const folder = writeProgram('spilling', '__syncthreads();\n', many);
    const file = join(folder, 'scale.cu');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('__launch_bounds__(threads)', '__launch_bounds__(1024, 2)'),
    );
    const { resources, diagnostics } = await build(folder, 'device');
    expect(diagnostics).toEqual([]);
    const faults = judgeResources(resources, limits);
    expect(faults.map(({ kernel }) => kernel.architecture)).toEqual(['80', '90']);
    expect(faults[0]!.got).toMatch(/^\d+ bytes of spilled registers$/);
    expect(judgeResources(resources, { ...limits, spillBytes: 2 ** 20 })).toEqual([]);
  });

  it('are compiled for a target or not at all', async () => {
    const request = { folder: writeProgram('lost'), sources, sanitize: false };
    await expect(buildProgram(toolchain, request)).rejects.toThrow(/cannot be compiled for the host alone/);
    await expect(build(request.folder, 'device', true)).rejects.toThrow(/no sanitized build for a device/);
  });
});
