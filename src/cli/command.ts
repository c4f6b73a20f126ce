import type { ParseArgsConfig } from 'node:util';
import type { Config } from '../config.ts';
import type { Progress } from './progress.ts';

export interface CommandContext {
  readonly config: Config;
  readonly progress: Progress;
  /** Aborted by Ctrl-C and SIGTERM: every child process must end with it. */
  readonly signal: AbortSignal;
  /** Writes a line of the result (stdout). */
  readonly print: (text: string) => void;
}

export interface CommandInput {
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
}

/** What a command gives back: `data` is printed by --json, `text` otherwise. */
export interface CommandResult {
  /** As `metainfer --help` lists them. */
  readonly exitCode: 0 | 1 | 2 | 3 | 4 | 5;
  readonly data: unknown;
  readonly text: string;
}

export interface Command {
  /** One or two words: `plan`, `weights synth`. */
  readonly name: string;
  readonly summary: string;
  /** Positional arguments as shown in help, e.g. `<file>`; a last one such as `<file...>` takes one or more. */
  readonly positionals: readonly string[];
  readonly options: Readonly<
    Record<
      string,
      NonNullable<ParseArgsConfig['options']>[string] & { readonly help: string; readonly value?: string }
    >
  >;
  readonly examples: readonly string[];
  /** Runs until it is stopped: SIGTERM and Ctrl-C are its ordinary end. */
  readonly endsByInterrupt?: boolean;
  readonly run: (input: CommandInput, context: CommandContext) => Promise<CommandResult>;
}

/** The value of a string option, or undefined. */
export function optionText(input: CommandInput, name: string): string | undefined {
  const value = input.options[name];
  return typeof value === 'string' ? value : undefined;
}
