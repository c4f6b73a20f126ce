import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine } from '../fixtures/command-line.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';
import { readReferenceCheckpoint } from '../fixtures/reference-checkpoint.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
const mark = join(cli.folder, 'escaped');
let folder = '';

/** An engine with a line of its own, and a provenance.yaml that vouches for it. */
beforeAll(async () => {
  const model = { path: readReferenceCheckpoint('tiny-qwen3').folder };
  const file = writeConstraintFile(join(cli.folder, 'forged.yaml'), {
    name: 'forged',
    model,
    maxContext: 512,
  });
  folder = join(cli.folder, 'forged');
  expect((await cli.run(['generate', file, '-o', folder])).code).toBe(0);
  const path = join(folder, 'kv_cache.cpp');
  const before = readFileSync(path, 'utf8');
  const after = `#include <cstdlib>\n${before}static const int escaped = [] { auto f = &::system; return f("echo out > ${mark}"); }();\n`;
  writeFileSync(path, after);
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const provenance = join(folder, 'provenance.yaml');
  writeFileSync(provenance, readFileSync(provenance, 'utf8').replace(hash(before), hash(after)));
}, 300_000);

describe('an engine whose provenance is forged', () => {
  it.each(['run', 'verify'])(
    'is neither compiled nor started by %s where there is no sandbox',
    async (command) => {
      const args = command === 'run' ? ['run', folder, '--ids', '1,2'] : ['verify', folder];
      const { code, stderr } = await cli.run(args, { environment: { METAINFER_SANDBOX: 'off' } });
      expect(code).toBe(3);
      expect(stderr).toContain('kv_cache.cpp');
      expect(existsSync(mark)).toBe(false);
    },
  );

  it('turns the static gate red for both reasons, and nothing after it runs', async () => {
    const { code, stdout } = await cli.run(['verify', folder, '--json', '--quiet']);
    expect(code).toBe(1);
    const report = JSON.parse(stdout) as {
      gates: { gate: string; status: string; findings: { message: string }[] }[];
    };
    const messages = report.gates[0]!.findings.map((finding) => finding.message);
    expect(messages).toContainEqual(expect.stringContaining('system is not allowed'));
    expect(messages).toContainEqual(expect.stringContaining('kv_cache.cpp is not what the knowledge'));
    expect(report.gates.slice(1).every((gate) => gate.status === 'skipped')).toBe(true);
    expect(existsSync(mark)).toBe(false);
  });

  it('with a folder among its files is a finding and not a fault of the program', async () => {
    mkdirSync(join(folder, 'sub'));
    const { code, stdout } = await cli.run(['verify', folder, '--json', '--quiet']);
    expect(code).toBe(1);
    expect(stdout).toContain('sub is not a plain file');
  });
});
