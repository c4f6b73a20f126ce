import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine } from '../fixtures/command-line.ts';

const cli = new CommandLine();
const repository = join(cli.folder, 'repository');
const knowledge = join(repository, 'knowledge');
const own = join(import.meta.dirname, '../../knowledge');
const page = join(knowledge, 'contracts/norm-rms/contract.md');

beforeAll(() => {
  cpSync(own, knowledge, { recursive: true });
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    [...author, 'commit', '-q', '-m', 'knowledge'],
  ])
    execFileSync('git', args, { cwd: repository });
  const text = readFileSync(page, 'utf8');
  writeFileSync(page, text.replace('nmse: 1.0e-12', 'nmse: 1.0e-3'));
});
afterAll(() => cli.close());

describe('knowledge check --against', () => {
  it('refuses a change since a commit that contradicts itself, and says where', async () => {
    const { code, stdout } = await cli.run(['knowledge', 'check', knowledge, '--against', 'HEAD', '--json']);
    const { problems } = JSON.parse(stdout) as { problems: { severity: string; file: string }[] };
    const errors = problems.filter(({ severity }) => severity === 'error');
    expect([code, errors.map(({ file }) => file)]).toEqual([
      2,
      expect.arrayContaining(['contracts/norm-rms/contract.md']),
    ]);
  });

  it('finds no fault in what did not change, against a folder', async () => {
    const { code, stdout } = await cli.run(['knowledge', 'check', own, '--against', own]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('no fault that shows without building')]);
  });

  it('says of what is neither a commit nor a folder with knowledge what would do', async () => {
    const unknown = await cli.run(['knowledge', 'check', knowledge, '--against', 'no-such-ref']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('give a branch, a tag')]);
    const empty = await cli.run(['knowledge', 'check', knowledge, '--against', repository]);
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('holds no contracts/')]);
  });
});

describe('knowledge completeness', () => {
  it('scores one contract, and suggests one for a name that is none', async () => {
    const { code, stdout } = await cli.run(['knowledge', 'completeness', 'norm.rms']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^norm\.rms \d+\.\d+\.\d+: 1\.00 \((\d+) of \1\)\n$/),
    ]);
    const wrong = await cli.run(['knowledge', 'completeness', 'nrom.rms']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Did you mean norm.rms?')]);
  });
});
