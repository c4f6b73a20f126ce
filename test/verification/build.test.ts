import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram, findToolchain, type Toolchain } from '../../src/verification/build.ts';
import { pruneConfig, readTransitive } from '../../src/verification/object-key.ts';
import { probeSandbox } from '../../src/verification/sandbox.ts';
import { runSandboxed } from '../../src/verification/sandboxed-process.ts';

const sandbox = probeSandbox('auto');
let root = '';
let toolchain: Toolchain;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'metainfer-build-'));
  toolchain = await findToolchain({
    compiler: '/usr/bin/g++',
    flags: [],
    cacheFolder: join(root, 'cache'),
    jobs: 2,
    sandbox,
  });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function writeProgram(name: string, files: Record<string, string>): string {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

const program = {
  'part.h': '#pragma once\nint answer();\n',
  'part.cpp': '#include "part.h"\nint answer() { return 42; }\n',
  'main.cpp': '#include <cstdio>\n#include "part.h"\nint main() { std::printf("%d\\n", answer()); }\n',
};

test('a program is compiled, runs, and is rebuilt only where a header or source changed', async () => {
  const folder = writeProgram('good', program);
  const sources = ['part.cpp', 'main.cpp'];
  const first = await buildProgram(toolchain, { folder, sources, sanitize: false });
  expect(first.diagnostics).toEqual([]);
  expect([first.compiled, first.cached]).toEqual([2, 0]);
  const binary = first.binary as string;
  const end = await runSandboxed({ sandbox, command: [binary], readOnlyPaths: [binary] });
  expect(end.stdout.toString()).toBe('42\n');
  const again = await buildProgram(toolchain, {
    folder: writeProgram('copy', program),
    sources,
    sanitize: false,
  });
  expect([again.compiled, again.cached, again.binary]).toEqual([0, 2, binary]);
  writeProgram('copy', { 'part.cpp': '#include "part.h"\nint answer() { return 43; }\n' });
  const changed = await buildProgram(toolchain, { folder: join(root, 'copy'), sources, sanitize: false });
  expect([changed.compiled, changed.cached]).toEqual([1, 1]);
});

test('errors, warnings and missing symbols come back with their place', async () => {
  const folder = writeProgram('bad', {
    ...program,
    'part.cpp': '#include "part.h"\n\nint answer() { int unused = 1; return undeclared; }\n',
  });
  const { binary, diagnostics } = await buildProgram(toolchain, {
    folder,
    sources: ['part.cpp', 'main.cpp'],
    sanitize: false,
  });
  expect(binary).toBeUndefined();
  expect(diagnostics.map((item) => [item.file, item.line])).toContainEqual(['part.cpp', 3]);
  expect(diagnostics.some((item) => item.message.includes('undeclared'))).toBe(true);
  const missing = await buildProgram(toolchain, { folder, sources: ['main.cpp'], sanitize: false });
  expect(missing.diagnostics[0]?.message).toMatch(/undefined reference to .answer/);
});

test('the sanitized build ends at the first fault and names the line', async () => {
  const folder = writeProgram('fault', {
    'main.cpp':
      '#include <vector>\nint main(int count, char**) {\n  std::vector<int> v(static_cast<std::size_t>(count));\n  return v.data()[count];\n}\n',
  });
  const { binary, diagnostics } = await buildProgram(toolchain, {
    folder,
    sources: ['main.cpp'],
    sanitize: true,
  });
  expect(diagnostics).toEqual([]);
  const end = await runSandboxed({ sandbox, command: [binary as string], readOnlyPaths: [binary as string] });
  expect(end.exitCode).not.toBe(0);
  expect(end.stderr.toString()).toMatch(/heap-buffer-overflow[\s\S]*main\.cpp:4/);
});

test('code that tries to read a secret while it is compiled finds nothing', async () => {
  writeFileSync(join(root, 'secret.txt'), '"leak"');
  const folder = writeProgram('thief', {
    'main.cpp': `const char* stolen =\n#include "${join(root, 'secret.txt')}"\n;\nint main() { return stolen[0]; }\n`,
  });
  const { binary, diagnostics } = await buildProgram(toolchain, {
    folder,
    sources: ['main.cpp'],
    sanitize: false,
  });
  if (sandbox.kind === 'bubblewrap') {
    expect(binary).toBeUndefined();
    expect(diagnostics[0]?.message).toMatch(/No such file/);
  }
});

test('a source that names a device as its header is refused by the compiler and read by nobody', async () => {
  const up = '../'.repeat(12);
  const folder = writeProgram('device', { 'main.cpp': `#include "${up}dev/zero"\nint main() {}\n` });
  symlinkSync('/dev/zero', join(folder, 'linked.h'));
  const { binary } = await buildProgram(
    { ...toolchain, limits: { cpuSeconds: 3, memoryBytes: 2 ** 29 } },
    { folder, sources: ['main.cpp'], sanitize: false },
  );
  expect(binary).toBeUndefined();
  expect([...readTransitive(folder, 'main.cpp').keys()]).toEqual(['main.cpp']);
  expect([...readTransitive(folder, 'linked.h').keys()]).toEqual([]);
});

test('an object is shared by models that agree on the constants it names, and by no others', () => {
  const config = 'inline constexpr int a = 1;\ninline constexpr int b = 2;';
  const keep = (source: string) =>
    pruneConfig(new Map(Object.entries({ 'config.h': config, 'x.cpp': source }))).get('config.h');
  expect(keep('int f() { return config::a; }  // not config::b')).toBe('inline constexpr int a = 1;');
  for (const hidden of [
    'namespace c = config;\nint f() { return c::b + config::a; }',
    'using namespace config;\nint f() { return b; }',
    '#define CONSTANT(x) config::x\nint f() { return CONSTANT(b); }',
  ]) {
    expect(keep(hidden)).toBe(config);
  }
});

test('two definitions of one symbol are told by the names of the sources', async () => {
  const folder = writeProgram('twice', { ...program, 'other.cpp': 'int answer() { return 1; }\n' });
  const sources = ['part.cpp', 'other.cpp', 'main.cpp'];
  const { diagnostics } = await buildProgram(toolchain, { folder, sources, sanitize: false });
  expect(diagnostics[0]).toMatchObject({ file: 'other.cpp', line: null });
  expect(diagnostics[0]?.message).toMatch(/multiple definition of .answer.*first defined in part\.cpp$/);
});

test('a header that the code asks for and that is not there is a finding about the line, without places of this machine', async () => {
  const folder = writeProgram('secretname', {
    ...program,
    'part.cpp': '#include "part.h"\n#include "nowhere.h"\n',
    'main.cpp': `#include "${join(root, 'secretname', 'lost.h')}"\nint main() {}\n`,
  });
  const { diagnostics } = await buildProgram(toolchain, {
    folder,
    sources: ['part.cpp', 'main.cpp'],
    sanitize: false,
  });
  expect(diagnostics).toEqual([
    { file: 'part.cpp', line: 2, message: 'nowhere.h: No such file or directory' },
    { file: 'main.cpp', line: 1, message: 'lost.h: No such file or directory' },
  ]);
});

test.each([
  ['is not there', ['gone.cpp'], ':'],
  ['goes away while it is compiled', ['part.cpp'], 'rm FOLDER/part.cpp'],
  ['is written again while it is compiled', ['part.cpp'], 'echo "int answer();" > FOLDER/part.cpp'],
  ['includes a header that goes away meanwhile', ['main.cpp'], 'rm FOLDER/part.h'],
])('a source that %s is no fault of the code', async (_, sources, meanwhile) => {
  const folder = writeProgram('raced', { ...program, 'part.cpp': `${program['part.cpp']}// ${meanwhile}\n` });
  writeProgram('raced', { 'main.cpp': `${program['main.cpp']}// ${meanwhile}\n` });
  // What another process does just before the compiler reads; the sandbox would not show this script.
  const compiler = join(root, 'raced-compiler');
  writeFileSync(compiler, `#!/bin/sh\n${meanwhile.replace('FOLDER', folder)}\nexec /usr/bin/g++ "$@"\n`);
  chmodSync(compiler, 0o755);
  const raced = { ...toolchain, compiler, sandbox: { kind: 'none' as const, reason: 'for the test' } };
  await expect(buildProgram(raced, { folder, sources, sanitize: false })).rejects.toMatchObject({
    code: 'ENGINE_INVALID',
    message: expect.stringMatching(/^(?:gone|part|main)\.cpp.* while it was compiled: run again/),
  });
});
