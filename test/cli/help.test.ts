import { afterAll, describe, expect, it } from 'vitest';
import { parseInvocation, renderCommandHelp } from '../../src/cli/arguments.ts';
import { commands } from '../../src/cli/commands.ts';
import { CommandLine } from '../fixtures/command-line.ts';

const cli = new CommandLine();
afterAll(() => cli.close());

describe('help', () => {
  it('lists every command with its summary and the exit codes', async () => {
    const { code, stdout, stderr } = await cli.run(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const command of commands) {
      expect(stdout).toContain([command.name, ...command.positionals].join(' '));
      expect(stdout).toContain(command.summary);
    }
    expect(stdout).toMatch(
      /Exit codes: 0 ok · 1 verdict failed · 2 bad input · 3 environment · 4 internal fault · 5 not run on a device/,
    );
  });

  it('is what a person without arguments gets', async () => {
    const [bare, asked] = [await cli.run([]), await cli.run(['help'])];
    expect(bare).toEqual(asked);
    expect(bare.code).toBe(0);
  });

  it('of one command goes to stdout and ends with code 0', async () => {
    const command = commands.find(({ name }) => name === 'weights synth')!;
    expect(await cli.run(['weights', 'synth', '--help'])).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: `${renderCommandHelp(command)}\n`,
    });
  });

  it.each(commands.map((command) => [command.name, command] as const))(
    'of `%s` shows every option and an example that begins as a person would type it',
    (name, command) => {
      const invocation = parseInvocation([...name.split(' '), '--help'], commands);
      expect([invocation.command?.name, invocation.wantsHelp]).toEqual([name, true]);
      const stdout = renderCommandHelp(command);
      for (const option of [...Object.keys(command.options), 'json', 'quiet', 'help']) {
        expect(stdout).toContain(`--${option}`);
      }
      const examples = stdout.split('Examples:\n')[1]?.trimEnd().split('\n') ?? [];
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) expect(example).toMatch(/^ {2}np(?:x metainfer|m run) /);
    },
  );

  it.each(commands.flatMap((command) => command.examples).filter((line) => line.startsWith('npx')))(
    'shows an example whose command and options exist: %s',
    (example) => {
      const words = example.match(/"[^"]*"|\S+/g)?.slice(2) ?? [];
      expect(parseInvocation(words, commands).command?.name).toBe(
        commands.find((command) => example.startsWith(`npx metainfer ${command.name}`))?.name,
      );
    },
  );
});
