import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { explain } from '../../src/verification/compiler-end.ts';
import { runSandboxed } from '../../src/verification/sandboxed-process.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-compiler-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const memoryBytes = 2 ** 31;
const inMemory = (kibibytes: number) => ['/usr/bin/prlimit', `--as=${kibibytes * 1024}`];

/** What the real compiler says, run with these words in the folder. */
async function told(words: readonly string[], text = 'int main() { return 0; }\n', memory = memoryBytes) {
  writeFileSync(join(root, 'main.cpp'), text);
  const command = words.map((word) => word.replace('FOLDER', root));
  const end = await runSandboxed({
    sandbox: { kind: 'none', reason: 'for the test' },
    command,
    readOnlyPaths: [],
    scratch: root,
    environment: { PATH: '/usr/bin', LC_ALL: 'C', TMPDIR: root },
  });
  expect(end.exitCode).not.toBe(0);
  return () => explain(end, { what: 'main.cpp', folders: [root], memoryBytes: memory });
}

const compile = ['/usr/bin/g++', '-c', 'FOLDER/main.cpp', '-o'];
const much = '#include <map>\n#include <regex>\n#include <iostream>\n';

describe('what is not the fault of the code is no finding', () => {
  it.each([
    ['ENGINE_INVALID', 'a source went away', ['/usr/bin/g++', '-c', 'FOLDER/gone.cpp', '-o', 'FOLDER/o']],
    ['ENGINE_INVALID', 'an object went away', ['/usr/bin/g++', 'FOLDER/gone.o', '-o', 'FOLDER/o']],
    ['ENGINE_INVALID', 'the scratch folder went away', [...compile, 'FOLDER/gone/o']],
    ['OUT_OF_MEMORY', 'the disk is full', [...compile, '/dev/full']],
    [
      'OUT_OF_MEMORY',
      'the disk is full for the linker',
      ['/usr/bin/g++', 'FOLDER/main.cpp', '-o', '/dev/full'],
    ],
    [
      'TOOL_MISSING',
      'a library of the compiler is missing',
      ['/usr/bin/g++', 'FOLDER/main.cpp', '-lnowhere'],
    ],
  ])('%s where %s', async (code, _, words) => {
    const look = await told(words);
    expect(look).toThrow(expect.objectContaining({ code, message: expect.not.stringContaining(root) }));
  });

  it('OUT_OF_MEMORY where the compiler got less than half of what it may use', async () => {
    const words = [...inMemory(60_000), ...compile, 'FOLDER/o'];
    expect(await told(words, much)).toThrow(expect.objectContaining({ code: 'OUT_OF_MEMORY' }));
    const greedy = await told(words, much, 2 ** 20);
    expect(greedy()).toEqual([
      {
        file: 'main.cpp',
        line: null,
        message: expect.stringMatching(/^the compiler failed \(exit code 1\) /),
      },
    ]);
  });
});

describe('what the code does is a finding', () => {
  it.each([
    ['a missing header', '#include "FOLDER/gone.h"\n', 1, /^gone\.h: No such file or directory$/],
    [
      'text that imitates a fault of the machine',
      'static_assert(false, "\\ncc1plus: fatal error: main.cpp: No such file or directory");\n',
      1,
      /^static assertion failed/,
    ],
  ])('%s', async (_, text, line, message) => {
    const look = await told([...compile, 'FOLDER/o'], text.replace('FOLDER', root));
    expect(look()).toEqual([{ file: 'main.cpp', line, message: expect.stringMatching(message) }]);
  });
});
