import { join } from 'node:path';
import { startRun } from '../../pipeline.ts';
import { packageRoot } from '../../preparation/package-root.ts';
import { readConstraintFile } from '../../preparation/read-request.ts';
import { buildResult, buildRun } from '../build-command.ts';
import type { CommandContext, CommandResult } from '../command.ts';
import { planCommand } from '../plan-command.ts';
import { runCommand } from '../run-command.ts';

const prompt = 'Returns a';

async function continuePrompt(folder: string, context: CommandContext): Promise<string> {
  const options = { prompt, 'max-tokens': '96', temperature: '0.5', 'top-p': '0.9', seed: '7', json: true };
  const { data } = await runCommand.run({ positionals: [folder], options }, context);
  return `${prompt}${(data as { text: string }).text}`;
}

/** The main job without GitHub: plan, engine, verdict, figures, and what the engine writes. */
export async function runLocalDemo(
  context: CommandContext,
  print: (text: string) => void,
): Promise<CommandResult> {
  const file = join(packageRoot(), 'knowledge/examples/tiny-qwen3.yaml');
  const plan = await planCommand.run({ positionals: [file], options: { measure: true } }, context);
  print(`${plan.text}\n`);
  const folder = join(process.cwd(), 'engines/tiny-qwen3');
  const state = startRun(
    'demo',
    { fileName: file, text: await readConstraintFile(file), origin: 'command-line' },
    folder,
  );
  const path = join(context.config.cacheFolder, 'runs/demo.json');
  const end = await buildRun(state, path, context, {
    baseline: true,
    runSeed: undefined,
    stopAfter: undefined,
  });
  const result = buildResult(end.state, path, end.report);
  if (result.exitCode !== 0) return result;
  print(
    `${result.text}\n\n## The engine continues a prompt (1.3 M parameters: the form of Node.js documentation, not its facts)\n\nprompt: ${prompt}`,
  );
  const continuation = await continuePrompt(folder, context);
  const data = { ...(result.data as object), prompt, continuation };
  return { ...result, data, text: `${continuation}\n` };
}
