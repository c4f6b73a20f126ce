import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scanSource } from '../../../src/model/code-rules.ts';
import { makeFinding } from '../../../src/verification/gate-context.ts';
import { runStaticGate } from '../../../src/verification/gates/static.ts';
import { fakeContext, fakeEngine } from '../fake-session.ts';

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'metainfer-static-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const scan = { headers: new Set(['norm_rms.h']), contract: 'norm.rms' };

test.each([
  'int main() { return std::system("rm -rf /"); }',
  'void f() { popen("id", "r"); }',
  'void f() { execve("/bin/sh", nullptr, nullptr); }',
  'void f() { if (fork() == 0) return; }',
  'int fd = ::socket(2, 1, 0);',
  'void* h = dlopen("libc.so.6", 1);',
  'const char* home = std::getenv("HOME");',
  'extern char** environ;',
  'long n = syscall(57);',
  'void f() { asm("syscall"); }',
  '__asm__(".incbin \\"/etc/passwd\\"");',
  '#embed "/etc/passwd"',
  '#include_next <vector>',
  '#include "/etc/passwd"',
  '#include "../secret.h"',
  '#include <sys/socket.h>',
  '#define F sys##tem',
  '%:define X 1',
  '#if 1',
  '#pragma GCC optimize("O3")',
  'int a; \\\nint b;',
  '__attribute__((constructor)) void f() {}',
  'std::ofstream file("x");',
  'int fd = open("x", O_WRONLY);',
  'void f() { std::filesystem::remove_all("/"); }',
])('%s is refused', (text) => {
  expect(scanSource(text, scan).length).toBeGreaterThan(0);
});

test.each([
  '#pragma once\n#include <vector>\n#include "norm_rms.h"',
  '// system("x") in a comment\n/* fork() */ const char* text = "popen(";',
  'void f(Pool& p, Pool* q) { p.connect(); q->send(); p.system = 1; }',
  '#pragma GCC unroll 8\nint x;',
  'typedef float vecf __attribute__((vector_size(32)));',
  "const int million = 1'000'000;",
])('%s is allowed', (text) => {
  expect(scanSource(text, scan)).toEqual([]);
});

test('only the command line may write a file', () => {
  expect(scanSource('std::ofstream file("x");', { ...scan, contract: 'interface.cli' })).toEqual([]);
});

function engineWith(name: string, files: Record<string, string>) {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const contract = {
    id: 'norm.rms',
    header: 'norm_rms.h',
    source: 'norm_rms.cpp',
    requires: [],
    config: [],
    gate: null,
    shim: null,
    reference: null,
  };
  return { engine: { ...fakeEngine, folder, contracts: [contract] } };
}

const good = {
  'norm_rms.h': '#pragma once\n',
  'norm_rms.cpp': '#include "norm_rms.h"\n',
  'config.h': '#pragma once\n',
};

test('a folder with the files of its contracts passes, with its lines counted', async () => {
  const outcome = await runStaticGate(fakeContext({}, engineWith('good', good)));
  expect(outcome).toEqual({ findings: [], measurements: { files: 3, lines: 3, code_lines: 3 } });
});

test('a stray file, a link and a folder are findings before anything is read', async () => {
  const changes = engineWith('strays', { ...good, 'extra.cpp': '' });
  symlinkSync('/etc/passwd', join(changes.engine.folder, 'LICENSE'));
  mkdirSync(join(changes.engine.folder, 'src'));
  const { findings } = await runStaticGate(fakeContext({}, changes));
  expect(findings.map((finding) => finding.file).sort()).toEqual(['LICENSE', 'extra.cpp', 'src']);
});

test('forbidden code, a long file and a changed file are findings with contract, file and line', async () => {
  const text = `#include "norm_rms.h"\n${'\n'.repeat(600)}int x = system("id");\n`;
  const changes = {
    ...engineWith('bad', { ...good, 'norm_rms.cpp': text }),
    checkProvenance: async () => [
      makeFinding('static', null, 'differs from what the composer wrote', {}, { file: 'config.h' }),
    ],
  };
  const { findings } = await runStaticGate(fakeContext({}, changes));
  expect(findings.map(({ contract, file, line }) => [contract, file, line])).toEqual([
    ['norm.rms', 'norm_rms.cpp', null],
    ['norm.rms', 'norm_rms.cpp', 602],
    [null, 'config.h', null],
  ]);
});
