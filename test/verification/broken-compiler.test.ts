import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../../src/verification/build.ts';
import { runSandboxed } from '../../src/verification/sandboxed-process.ts';
import type { CudaToolchain, Toolchain } from '../../src/verification/toolchain.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-broken-compiler-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const folder = join(root, 'sources');
mkdirSync(folder);
writeFileSync(join(folder, 'main.cpp'), '#include <cstdio>\nint main() { std::puts("right"); }\n');
writeFileSync(join(folder, 'scale.cu'), '__global__ void scale() {}\n');

/** A compiler that does what the shell says with its output file, `$out`. */
function fakeCompiler(name: string, does: string): string {
  const path = join(root, name);
  const findOutput = 'for word in "$@"; do [ "$last" = -o ] && out=$word; last=$word; done';
  writeFileSync(path, `#!/bin/bash\n${findOutput}\n${does}\n`);
  chmodSync(path, 0o755);
  return path;
}

function toolchainOf(compiler: string, cacheFolder: string, nvcc?: string): Toolchain {
  const cuda: CudaToolchain = {
    ...{ compiler: nvcc ?? '', version: 'nvcc for the test', folder: root, runtimeLibrary: '' },
    ...{ flags: [], architectures: ['90'], mode: 'compile-only', deviceFiles: [], emulationFolder: root },
    limits: { registersPerThread: 255, spillBytes: 0, sharedBytesPerBlock: 49152 },
  };
  return {
    // The same version for all of them, as where a broken compiler is mended: its objects have the same names.
    ...{ compiler, version: 'g++ for the test', flags: [], cacheFolder, jobs: 2 },
    sandbox: { kind: 'none', reason: 'for the test' },
    ...(nvcc === undefined ? {} : { cuda }),
  };
}

const request = { folder, sources: ['main.cpp'], sanitize: false };
const compilesOnly = (then: string) => `case "$*" in *" -c "*) exec /usr/bin/g++ "$@";; esac; ${then}`;

const objectsIn = (cache: string, kind: RegExp) => readdirSync(cache).filter((name) => kind.test(name));

describe('a compiler that ends without an error', () => {
  it.each([
    ['and writes nothing', 'exit 0', /it wrote no object file/],
    ['and writes no object', 'echo garbage > "$out"', /what it wrote is no object file/],
    ['and writes half an object', 'printf "\\177ELF" > "$out"', /what it wrote is no object file/],
    ['and writes a program for an object', 'cp /usr/bin/true "$out"', /what it wrote is no object file/],
    ['and writes a folder', 'mkdir "$out"', /what it wrote is no object file/],
  ])('%s is a fault of the machine, and leaves nothing for the next one', async (name, does, says) => {
    const cache = join(root, `cache ${name}`);
    const compiler = fakeCompiler(name.replaceAll(' ', '-'), does);
    await expect(buildProgram(toolchainOf(compiler, cache), request)).rejects.toMatchObject({
      ...{ code: 'TOOL_MISSING', exitCode: 3 },
      message: expect.stringMatching(says),
    });
    await expect(buildProgram(toolchainOf(compiler, cache), request)).rejects.toThrow(
      new RegExp(`^${compiler} ended without an error for main\\.cpp,.* this compiler does not work`),
    );
    expect(readdirSync(cache)).toEqual([]);
    const mended = await buildProgram(toolchainOf('/usr/bin/g++', cache), request);
    expect(mended).toMatchObject({ diagnostics: [], compiled: 1, cached: 0, binary: expect.any(String) });
  });

  it.each([
    ['writes no program', 'exit 0', /for the linked objects, but it wrote no program file/],
    ['writes something else', 'echo garbage > "$out"', /what it wrote is no program file/],
  ])('and %s when it links is a fault of the machine', async (name, does, says) => {
    const cache = join(root, `cache ${name}`);
    const compiler = fakeCompiler(name.replaceAll(' ', '-'), compilesOnly(does));
    const built = buildProgram(toolchainOf(compiler, cache), request);
    await expect(built).rejects.toMatchObject({
      ...{ code: 'TOOL_MISSING', message: expect.stringMatching(says) },
    });
    expect(objectsIn(cache, /\.bin/)).toEqual([]);
  });

  it.each(['exit 0', 'echo garbage > "$out"'])('is named where it is nvcc: %s', async (does) => {
    const nvcc = fakeCompiler('nvcc', does);
    const cache = join(root, 'cache nvcc');
    const built = buildProgram(toolchainOf('/usr/bin/g++', cache, nvcc), {
      ...{ folder, sources: ['scale.cu'], sanitize: false, target: 'device' },
    });
    await expect(built).rejects.toMatchObject({ code: 'TOOL_MISSING' });
    await expect(built).rejects.toThrow(new RegExp(`^${nvcc} ended without an error for scale\\.cu`));
    expect(readdirSync(cache)).toEqual([]);
  });
});

describe('in the cache', () => {
  const cache = join(root, 'cache');
  const toolchain = toolchainOf('/usr/bin/g++', cache);
  const onlyFile = (kind: RegExp) => join(cache, objectsIn(cache, kind)[0]!);

  it.each([
    ['replaced by garbage', (path: string) => writeFileSync(path, 'garbage')],
    ['emptied', (path: string) => truncateSync(path)],
    ['cut off', (path: string) => truncateSync(path, statSync(path).size - 1)],
  ])('an object or program that was %s is made again', async (_, damage) => {
    const first = await buildProgram(toolchain, request);
    const bytes = readFileSync(onlyFile(/\.o$/));
    damage(onlyFile(/\.o$/));
    damage(onlyFile(/\.bin$/));
    const again = await buildProgram(toolchain, request);
    expect(again).toMatchObject({ diagnostics: [], compiled: 1, cached: 0, binary: first.binary });
    expect(readFileSync(onlyFile(/\.o$/)).equals(bytes)).toBe(true);
    const { sandbox } = toolchain;
    const end = await runSandboxed({ sandbox, command: [again.binary!], readOnlyPaths: [] });
    expect(end.stdout.toString()).toBe('right\n');
    expect(await buildProgram(toolchain, request)).toMatchObject({ compiled: 0, cached: 1 });
  });
});
