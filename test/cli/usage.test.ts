import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { CommandLine } from '../fixtures/command-line.ts';
import { refusalOf } from '../support/refusal-of.ts';

const cli = new CommandLine();
const example = join(packageRoot(), 'knowledge/examples/tiny-qwen3.yaml');
const empty = join(cli.folder, 'empty');
beforeAll(() => {
  mkdirSync(empty);
  writeFileSync(join(cli.folder, 'ids.json'), '[1, 2, "three"]');
});
afterAll(() => cli.close());

interface Refusal {
  readonly args: readonly string[];
  readonly says: readonly string[];
}

const refusals: readonly Refusal[] = [
  { args: ['bulid', 'x.yaml'], says: ['Unknown command', 'Did you mean `metainfer build`?'] },
  { args: ['weights', 'sinth'], says: ['Unknown command', 'weights synth'] },
  { args: ['frobnicate'], says: ['Unknown command "frobnicate"', '--help'] },
  { args: ['plan', 'x.yaml', '--bandwith', '20'], says: ['--bandwith', 'Did you mean --bandwidth?'] },
  { args: ['plan', 'x.yaml', '--josn'], says: ['--josn', 'Did you mean --json?'] },
  { args: ['plan', example, '--bandwidth', 'fast'], says: ['--bandwidth is "fast"', 'number above 0'] },
  { args: ['plan'], says: ['Missing <file>', 'Usage: metainfer plan <file>'] },
  { args: ['plan', 'a.yaml', 'b.yaml'], says: ['Unexpected argument "b.yaml"'] },
  { args: ['plan', 'no-such-file.yaml'], says: ['no-such-file.yaml', 'does not exist'] },
  { args: ['plan', empty], says: ['is a folder'] },
  { args: ['generate', 'no-such-file.yaml'], says: ['no-such-file.yaml', 'does not exist'] },
  { args: ['build'], says: ['Give either a constraint file or --resume FILE'] },
  { args: ['build', 'x.yaml', '--stop-after', 'compile'], says: ['--stop-after is "compile"', 'generate'] },
  { args: ['build', 'x.yaml', '--baseline', 'vllm'], says: ['--baseline is "vllm"', 'llama.cpp or none'] },
  { args: ['build', '--resume', 'no-state.json'], says: ['no-state.json cannot be read'] },
  { args: ['verify', empty], says: ['is not an engine folder', 'metainfer generate'] },
  { args: ['verify', empty, '--seed', 'x'], says: ['engine folder'] },
  { args: ['bench', empty, '--baseline', 'none'], says: ['is not an engine folder'] },
  { args: ['run', empty, '--ids', '1'], says: ['is not an engine folder'] },
  { args: ['run', empty], says: ['--prompt TEXT', '--ids'] },
  { args: ['run', empty, '--ids-file', join(cli.folder, 'ids.json')], says: ['JSON list of token ids'] },
  { args: ['weights', 'synth', 'Qwen/Qwen3-0.7B', '-o', 'x'], says: ['Did you mean Qwen/Qwen3-0.6B?'] },
  { args: ['weights', 'synth', 'Qwen/Qwen3-0.6B'], says: ['Missing -o DIR'] },
  { args: ['weights', 'synth', 'Qwen/Qwen3-0.6B', '-o', 'x', '--dtype', 'q4'], says: ['--dtype'] },
  { args: ['oracle', empty, '--ids', 'x', '-o', 'y'], says: ['config.json'] },
  { args: ['knowledge', 'check', empty], says: ['holds no contracts'] },
  { args: ['knowledge', 'sabotage', '--mechanical', 'many'], says: ['--mechanical is "many"'] },
  {
    args: ['knowledge', 'sabotage', '--mechanical', '0', '--only', 'nothing'],
    says: ['No mistake has an id that holds "nothing"', 'rope-interleaved'],
  },
];

describe('a command line that is not understood', () => {
  it.each(refusals)('is refused with code 2, and says what is wrong: $args', async ({ args, says }) => {
    const { exitCode, message } = await refusalOf(args, cli.cache);
    expect(exitCode).toBe(2);
    for (const text of says) expect(message).toContain(text);
  });

  it.each(refusals.filter((_, index) => index % 9 === 0))(
    'ends the program with code 2 and the same message: $args',
    async ({ args, says }) => {
      const { code, stdout, stderr } = await cli.run(args);
      expect(code).toBe(2);
      for (const text of says) expect(stderr + stdout).toContain(text);
      expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+/m);
    },
  );

  it('is refused as one JSON document where --json asks for that', async () => {
    const { code, stdout } = await cli.run(['bulid', 'x.yaml', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: { code: 'USAGE', message: expect.stringContaining('Did you mean') },
    });
  });

  it('is refused where a variable of the environment holds what it may not', async () => {
    const environment = { METAINFER_SANDBOX: 'maybe' };
    const { code, stderr } = await cli.run(['doctor'], { environment });
    expect(code).toBe(2);
    expect(stderr).toContain('METAINFER_SANDBOX is "maybe"');
  });
});
