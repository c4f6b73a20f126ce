#!/usr/bin/env node
import { parseInvocation, renderCommandHelp, renderHelp } from './cli/arguments.ts';
import type { CommandResult } from './cli/command.ts';
import { commands } from './cli/commands.ts';
import { createProgress } from './cli/progress.ts';
import { readConfig } from './config.ts';
import { AppError } from './model/errors.ts';
import { programVersion } from './preparation/package-root.ts';

const interrupted = new AbortController();

/** Runs one command. Results go to stdout, progress and errors to stderr. Gives the exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const wantsJson = argv.includes('--json');
  if (argv[0] === '--version') {
    console.log(programVersion());
    return 0;
  }
  try {
    const invocation = parseInvocation(argv, commands);
    if (invocation.wantsHelp || invocation.command === undefined) {
      console.log(
        invocation.command === undefined ? renderHelp(commands) : renderCommandHelp(invocation.command),
      );
      return 0;
    }
    const config = readConfig();
    const progress = createProgress(process.stderr, invocation.isQuiet);
    try {
      const result = await invocation.command.run(invocation.input, {
        config,
        progress,
        signal: interrupted.signal,
        print: (text) => console.log(text),
      });
      progress.close();
      printResult(result, wantsJson);
      const isCutShort = interrupted.signal.aborted && invocation.command.endsByInterrupt !== true;
      return isCutShort ? 130 : result.exitCode;
    } finally {
      progress.close();
    }
  } catch (error) {
    if (interrupted.signal.aborted) return 130;
    return reportError(error, wantsJson);
  }
}

function printResult(result: CommandResult, wantsJson: boolean): void {
  if (wantsJson) console.log(JSON.stringify(result.data, null, 2));
  else if (result.text !== '') console.log(result.text);
}

/** One clear message; the stack only for an internal fault and only when METAINFER_DEBUG=1 asks for it. */
function reportError(error: unknown, wantsJson: boolean): number {
  const known =
    error instanceof AppError ? error : new AppError('INTERNAL', describeUnknown(error), { cause: error });
  if (wantsJson)
    console.log(JSON.stringify({ error: { code: known.code, message: known.message } }, null, 2));
  console.error(`metainfer: ${known.message}`);
  if (known.code === 'INTERNAL') {
    console.error('This is a fault of the program. METAINFER_DEBUG=1 shows where; please report it.');
    if (isDebugging() && known.cause instanceof Error) console.error(known.cause.stack);
  }
  return known.exitCode;
}

function isDebugging(): boolean {
  try {
    return readConfig().showStacks;
  } catch {
    return false;
  }
}

function describeUnknown(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort();
    console.error(`\nmetainfer: ${signal}, stopping (again to stop at once)`);
  });
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 4));
process.exitCode = await main(process.argv.slice(2));
