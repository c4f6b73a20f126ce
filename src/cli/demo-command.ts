import { AppError } from '../model/errors.ts';
import type { Command, CommandResult } from './command.ts';
import { describeMissing, examineMachine } from './doctor-command.ts';

/** The product end to end: by default through the app on a local GitHub, with --local the compiler core alone. */
export const demoCommand: Command = {
  name: 'demo',
  summary: 'From an issue to a verified engine pull request, on a local stand-in for GitHub',
  positionals: [],
  options: {
    pr: { type: 'boolean', help: 'ask by a pull request that adds a constraint file' },
    local: { type: 'boolean', help: 'without GitHub: build, verify, measure and run an engine here' },
    stay: { type: 'boolean', help: 'keep everything running at the end (default on a terminal)' },
  },
  examples: ['npm run demo', 'npm run demo -- --pr', 'npx metainfer demo --local'],
  async run(input, context): Promise<CommandResult> {
    // With --json, stdout holds the one document and nothing else.
    const print = input.options.json === true ? () => {} : context.print;
    await requireTools();
    if (input.options.local === true) {
      const { runLocalDemo } = await import('./demo/local-demo.ts');
      return runLocalDemo(context, print);
    }
    const { runAppDemo } = await import('./demo/app-demo.ts');
    const stays =
      input.options.stay === true || (process.stdout.isTTY === true && input.options.json !== true);
    return runAppDemo(context, { print, byPull: input.options.pr === true, stays });
  },
};

async function requireTools(): Promise<void> {
  const missing = describeMissing(await examineMachine());
  if (missing.length === 0) return;
  const lines = missing.map((line) => `- ${line}`).join('\n');
  throw new AppError('TOOL_MISSING', `This machine lacks something:\n${lines}`);
}
