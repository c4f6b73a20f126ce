import { parseArgs } from 'node:util';
import { AppError } from '../model/errors.ts';
import { nearestName } from '../model/nearest-name.ts';
import type { Command, CommandInput } from './command.ts';

const commonOptions = {
  json: { type: 'boolean', help: 'print the result as one JSON document' },
  quiet: { type: 'boolean', help: 'no progress on stderr' },
  help: { type: 'boolean', short: 'h', help: 'show this help' },
} as const;

export interface Invocation {
  readonly command: Command | undefined;
  readonly input: CommandInput;
  readonly wantsHelp: boolean;
  readonly wantsJson: boolean;
  readonly isQuiet: boolean;
}

/** @throws AppError USAGE for an unknown command or option, or a missing argument */
export function parseInvocation(argv: readonly string[], commands: readonly Command[]): Invocation {
  const command = findCommand(argv, commands);
  if (command === undefined) {
    const isHelp = argv.length === 0 || argv.includes('--help') || argv.includes('-h') || argv[0] === 'help';
    if (!isHelp) throw unknownCommand(argv, commands);
    return {
      command,
      input: { positionals: [], options: {} },
      wantsHelp: true,
      wantsJson: false,
      isQuiet: false,
    };
  }
  const words = command.name.split(' ').length;
  const { values, positionals } = parseStrictly(argv.slice(words), command);
  const wantsHelp = values.help === true;
  if (!wantsHelp) requirePositionals(positionals, command);
  return {
    command,
    input: { positionals, options: values as CommandInput['options'] },
    wantsHelp,
    wantsJson: values.json === true,
    isQuiet: values.quiet === true,
  };
}

function findCommand(argv: readonly string[], commands: readonly Command[]): Command | undefined {
  return commands.find((command) => {
    const words = command.name.split(' ');
    return words.every((word, index) => argv[index] === word);
  });
}

function unknownCommand(argv: readonly string[], commands: readonly Command[]): AppError {
  const isGroup = commands.some((command) => command.name.startsWith(`${argv[0]} `));
  const second = argv[1] === undefined || argv[1].startsWith('-') ? '' : ` ${argv[1]}`;
  const written = isGroup ? `${argv[0]}${second}` : argv[0]!;
  const names = commands.map((command) => command.name);
  const near = nearestName(`${argv[0]}${second}`, names) ?? nearestName(argv[0]!, names);
  const hint = near === undefined ? 'See `metainfer --help`.' : `Did you mean \`metainfer ${near}\`?`;
  return new AppError('USAGE', `Unknown command "${written}". ${hint}`);
}

function parseStrictly(argv: readonly string[], command: Command) {
  try {
    return parseArgs({
      args: [...argv],
      options: { ...command.options, ...commonOptions },
      allowPositionals: true,
    });
  } catch (error) {
    const detail = error instanceof Error ? (error.message.split('. ')[0] ?? error.message) : String(error);
    const option = /'(-[^' ]*)/.exec(detail)?.[1];
    const names = Object.keys({ ...command.options, ...commonOptions }).map((name) => `--${name}`);
    const near = option === undefined ? undefined : nearestName(option, names);
    const hint = near === undefined || near === option ? '' : ` Did you mean ${near}?`;
    throw new AppError('USAGE', `${detail}.${hint}\nSee \`metainfer ${command.name} --help\`.`);
  }
}

function requirePositionals(positionals: readonly string[], command: Command): void {
  const required = command.positionals.filter((name) => name.startsWith('<'));
  if (positionals.length < required.length) {
    throw new AppError('USAGE', `Missing ${required[positionals.length]}. Usage: ${usageLine(command)}`);
  }
  const takesSeveral = command.positionals.at(-1)?.endsWith('...>') === true;
  const surplus = takesSeveral ? undefined : positionals[command.positionals.length];
  if (surplus !== undefined) {
    throw new AppError('USAGE', `Unexpected argument "${surplus}". Usage: ${usageLine(command)}`);
  }
}

function usageLine(command: Command): string {
  return ['metainfer', command.name, ...command.positionals, '[options]'].join(' ');
}

export function renderCommandHelp(command: Command): string {
  const all: Command['options'] = { ...command.options, ...commonOptions };
  const rows = Object.entries(all).map(([name, option]) => {
    const short = option.short === undefined ? '' : `-${option.short}, `;
    const value = option.type === 'string' ? ` ${option.value ?? 'VALUE'}` : '';
    return [`  ${short}--${name}${value}`, option.help] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return [
    `${command.summary}\n`,
    `Usage: ${usageLine(command)}\n`,
    'Options:',
    ...rows.map(([left, right]) => left.padEnd(width) + right),
    '\nExamples:',
    ...command.examples.map((example) => `  ${example}`),
  ].join('\n');
}

export function renderHelp(commands: readonly Command[]): string {
  const width =
    Math.max(...commands.map((command) => [command.name, ...command.positionals].join(' ').length)) + 2;
  return [
    'metainfer: constraint file in, verified and benchmarked inference engine out\n',
    'Usage: metainfer <command> [options]\n',
    ...commands.map(
      (command) => `  ${[command.name, ...command.positionals].join(' ').padEnd(width)}${command.summary}`,
    ),
    '\nExit codes: 0 ok · 1 verdict failed · 2 bad input · 3 environment · 4 internal fault · 5 not run on a device · 130 interrupted',
    'Help on one command: metainfer <command> --help',
  ].join('\n');
}
