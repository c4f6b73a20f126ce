import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkContract } from '../../../src/local/agents/check-contract.ts';
import { measureTree } from '../../../src/verification/process-tree.ts';
import { isLacking } from '../../fixtures/needed-tool.ts';
import { type AgentSubject, openSubject, withText } from './agent-subject.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-hostile-'));
let subject: AgentSubject;
beforeAll(async () => {
  subject = await openSubject(root);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const signature = 'std::string take_valid_utf8(std::string& pending, bool end) {';
// Ours need a small part of it, so that the attacks end soon.
const limits = {
  compile: { wallSeconds: 40, cpuSeconds: 8, memoryBytes: 2 ** 30 },
  unit: { wallSeconds: 40, cpuSeconds: 6, memoryBytes: 2 ** 29, scratchBytes: 2 ** 26, outputBytes: 2 ** 20 },
};

/** text.utf8 with more includes, more declarations, and more to do whenever it is called. */
async function attack(parts: { includes?: string[]; outside?: string; inside?: string }) {
  const files = withText(subject.files, 'text.utf8', (text) =>
    [...(parts.includes ?? []).map((name) => `#include ${name}`), text]
      .join('\n')
      .replace(signature, `${parts.outside ?? ''}\n${signature}\n${parts.inside ?? ''}`),
  );
  const { prepared, toolchain, cacheFolder } = subject;
  const findings = await checkContract({
    ...{ prepared, agentFiles: files, contract: 'text.utf8', toolchain, cacheFolder, limits, runSeed: 1 },
    signal: new AbortController().signal,
  });
  expect(findings.length).toBeGreaterThan(0);
  expect(findings.every(({ contract }) => contract === 'text.utf8')).toBe(true);
  // Nothing it started is left.
  expect(measureTree(process.pid).pids.length).toBeLessThan(6);
  return findings[0]!;
}

describe.skipIf(isLacking('bubblewrap'))('a hostile file ends as a finding', () => {
  it.each([
    [
      'that includes a file of this machine',
      ['"/etc/passwd"'],
      '',
      /#include "\/etc\/passwd" is not allowed/,
    ],
    ['that includes a device', ['"../../../../../../dev/zero"'], '', /is not allowed/],
    ['that embeds a file', [], 'asm(".incbin \\"/etc/passwd\\"");', /asm is not allowed/],
    ['that forks', ['<unistd.h>'], 'const int child = fork();', /fork is not allowed/],
    ['that prints', ['<cstdio>'], 'const int said = std::puts("noise");', /puts is not allowed/],
    ['that waits', ['<thread>'], 'using std::this_thread::sleep_for;', /this_thread is not allowed/],
    ['with an array of gigabytes', [], 'char big[1ull << 33] = {1};', /array of 8589934592 elements/],
    ['that names a macro include', [], '#define A "/etc/passwd"\n#include A', /not allowed/],
  ])('%s, before anything is compiled', async (_, includes, outside, message) => {
    const finding = await attack({ includes, outside });
    expect(finding.gate).toBe('static');
    expect(finding.line).not.toBeNull();
    expect(finding.message).toMatch(message);
  });

  it.each([
    [
      'that reads secrets',
      'std::ifstream in("/etc/passwd"); std::string line; std::getline(in, line); throw std::runtime_error(line);',
      /ifstream is not allowed/,
    ],
    ['that ends the process with a good exit code', 'std::exit(0);', /exit is not allowed/],
    [
      'that puts a link in the place of its results',
      'std::filesystem::create_symlink("/dev/zero", pending);',
      /filesystem is not allowed/,
    ],
  ])('%s, before anything is compiled', async (_, inside, message) => {
    const finding = await attack({ inside });
    expect(finding).toMatchObject({ gate: 'static', file: 'text_utf8.cpp' });
    expect(finding.message).toMatch(message);
  });

  it.each([
    [
      'that never ends in the compiler',
      'template <unsigned long n> struct Deep { static constexpr auto v = Deep<n * 3>::v + Deep<n * 3 + 1>::v; };\nconst auto deep = Deep<1>::v;',
      'if (pending.size() == deep) return {};',
    ],
    [
      'with an object of gigabytes',
      'struct Big { char held[1 << 20]; };\nBig big[1 << 13] = {{{1}}};\nchar* use_big() { return big[0].held; }',
      'if (pending.size() > (1ull << 40)) return use_big();',
    ],
    [
      'that computes for ever while it is compiled',
      'constexpr int spin() { int n = 0; for (int i = 0; i < 2000000000; ++i) n ^= i; return n; }\nconstexpr int spun = spin();',
      'if (pending.size() == static_cast<size_t>(spun)) return {};',
    ],
  ])('%s', async (_, outside, inside) => {
    const finding = await attack({ outside, inside });
    expect(finding).toMatchObject({ gate: 'build', file: 'text_utf8.cpp' });
    expect(finding.evidence.got).not.toBe('');
  });

  it.each([
    ['that never ends', [], '', 'volatile int x = 0; for (;;) x = x + 1;', /wall-time|cpu-time/],
    [
      'that eats memory',
      ['<vector>'],
      '',
      'static std::vector<std::vector<char>> all; for (;;) all.emplace_back(1 << 26, 1);',
      /memory/,
    ],
    [
      'that starts threads without end',
      ['<thread>', '<vector>'],
      '',
      'static std::vector<std::thread> all; for (;;) all.emplace_back([] { volatile int x = 0; for (;;) x = x + 1; });',
      /it threw|exit code|processes|cpu-time/,
    ],
    [
      'that recurses without end',
      [],
      'int deep(int n) { volatile char pad[4096]; pad[0] = 1; return n == 0 ? pad[0] : deep(n + 1) + pad[0]; }',
      'if (deep(1) == 7) return {};',
      /exit code/,
    ],
  ])('%s', async (_, includes, outside, inside, got) => {
    const finding = await attack({ includes, outside, inside });
    expect(finding).toMatchObject({ gate: 'unit', file: 'text_utf8.cpp' });
    expect(finding.evidence.got).toMatch(got);
    expect(finding.evidence.case).toBeDefined();
  });
});
