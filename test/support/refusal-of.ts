import { parseInvocation } from '../../src/cli/arguments.ts';
import { commands } from '../../src/cli/commands.ts';
import { createProgress } from '../../src/cli/progress.ts';
import { readConfig } from '../../src/config.ts';
import { AppError } from '../../src/model/errors.ts';

/**
 * What a command line is refused with, in this process: each start of the program costs half a second, and how a
 * refusal leaves the program is the same for all.
 */
export async function refusalOf(args: readonly string[], cacheFolder: string): Promise<AppError> {
  try {
    const { command, input } = parseInvocation(args, commands);
    await command!.run(input, {
      config: readConfig({ METAINFER_CACHE: cacheFolder }),
      progress: createProgress(process.stderr, true),
      signal: new AbortController().signal,
      print: () => undefined,
    });
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error(`it was not refused: ${args.join(' ')}`);
}
