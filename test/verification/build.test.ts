import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram, findToolchain, type Toolchain } from '../../src/verification/build.ts';
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
