import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AblationResult } from '../../src/local/ablation/ablation-plan.ts';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { CommandLine } from '../fixtures/command-line.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';
import { type ModelServer, startModelServer } from '../support/model-server/model-server.ts';
import { refusalOf } from '../support/refusal-of.ts';

const cli = new CommandLine();
const checkpoint = join(packageRoot(), 'test/fixtures/checkpoints/llama-default');
const file = writeConstraintFile(join(cli.folder, 'a.yaml'), { name: 'llama', model: { path: checkpoint } });
const twin = writeConstraintFile(join(cli.folder, 'b.yaml'), { name: 'llama', model: { path: checkpoint } });
const settings = join(cli.folder, 'llm.yaml');
const folder = join(cli.folder, 'study');
let server: ModelServer;

beforeAll(async () => {
  server = await startModelServer({
    replies: () => ({ kind: 'text', text: 'I would rather talk about it.' }),
  });
  writeFileSync(
    settings,
    `base_url: ${server.baseUrl}\nmodel: ${server.model}\nlimits: { attempts_per_contract: 2 }\n`,
  );
  mkdirSync(join(cli.folder, 'full'));
  writeFileSync(join(cli.folder, 'full/thesis.txt'), 'mine');
});
afterAll(async () => {
  await server.close();
  cli.close();
});

function evaluate(args: readonly string[]) {
  return cli.run(['eval', 'ablation', ...args], { cwd: packageRoot() });
}

describe('eval ablation', () => {
  it.each([
    { args: [], says: ['Missing <file...>'] },
    { args: [file], says: ['measures a language model', '--llm URL'] },
    { args: [file, '--llm', settings, '--repeats', 'often'], says: ['--repeats is "often"', '1 to 100'] },
    { args: [file, '--llm', settings, '--repeats', '0'], says: ['--repeats is "0"'] },
    { args: [file, '--llm', settings, '--modes', 'zero'], says: ['names "zero"', 'zero-reference'] },
    { args: [file, '--llm', settings, '--modes', ''], says: ['names ""'] },
    { args: [file, '--llm', settings], says: ['source-reference shows source files', '--source PATH'] },
    { args: [file, '--llm', settings, '--source', '/no/such.cpp'], says: ['/no/such.cpp cannot be read'] },
    { args: [file, file, '--llm', settings, '--source', settings], says: ['is named twice', '--repeats'] },
    { args: [file, twin, '--llm', settings, '--source', settings], says: ['both call their engine "llama"'] },
    { args: ['no.yaml', '--llm', settings], says: ['no.yaml does not exist'] },
    {
      args: [file, '--llm', settings, '--modes', 'zero-reference', '-o', join(cli.folder, 'full')],
      says: ['holds other files'],
    },
  ])('refuses before a token is spent: $args', async ({ args, says }) => {
    const refusal = await refusalOf(['eval', 'ablation', ...args], cli.cache);
    expect(refusal.exitCode).toBe(2);
    for (const text of says) expect(refusal.message).toContain(text);
    expect(server.log).toEqual([]);
  });

  it('ends with a report of call counts where a test double answers, and asks nothing twice', async () => {
    const args = [file, '--llm', settings, '--modes', 'zero-reference', '--repeats', '2', '-o', folder];
    const { code, stdout, stderr } = await evaluate(args);
    expect([code, stderr]).toEqual([0, expect.stringContaining('tokens expected for all runs')]);
    expect(stdout).toContain('No real model took part');
    expect(stdout).toContain('llama, zero-reference: 0 of 2 runs passed, 2 model calls (median)');
    expect(server.log).toHaveLength(4);

    const text = readFileSync(join(folder, 'report.md'), 'utf8');
    expect(text).toContain('| Model calls | 2 (all alike) |');
    expect(text).not.toMatch(/First-pass rate \||Prompt tokens/);
    expect(readFileSync(join(folder, 'llama.svg'), 'utf8')).toContain('call counts only');
    const result = AblationResult.parse(
      JSON.parse(readFileSync(join(folder, 'runs/llama/zero-reference-2/result.json'), 'utf8')),
    );
    expect(result).toMatchObject({
      end: 'failed',
      reason: expect.stringContaining('not right after 2 attempts'),
    });
    expect(result.record).toMatchObject({ isRealModel: false, firstPass: null, rejections: { answer: 2 } });

    const again = await evaluate(args);
    expect([again.code, again.stdout]).toEqual([0, stdout]);
    expect(server.log).toHaveLength(4);
  });

  it('does not mix runs of different modes, models or files in one folder', async () => {
    expect(existsSync(join(folder, 'ablation.json'))).toBe(true);
    const changed = ['--modes', 'knowledge-first', '--repeats', '1', '-o', folder];
    const refusal = await refusalOf(['eval', 'ablation', file, '--llm', settings, ...changed], cli.cache);
    expect(refusal.message).toContain('begun with something else: modes, repeats (2 before');
  });
});
