import type { Catalog } from '../model/catalog.ts';
import { formatProblem } from '../model/problem.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import { type Request, readConstraintFile, readRequest } from '../preparation/read-request.ts';
import type { CommandContext } from './command.ts';

/** Reads knowledge and a constraint file for a command; warnings go to stderr. */
export async function openRequest(
  path: string,
  context: CommandContext,
  weightsFolder?: string,
): Promise<{ readonly request: Request; readonly catalog: Catalog }> {
  const text = await readConstraintFile(path);
  const catalog = await openKnowledge(context.config.cacheFolder);
  const request = await readRequest(text, {
    fileName: path,
    origin: 'command-line',
    weightsRoot: context.config.weightsRoot,
    weightsFolder,
    catalog,
  });
  for (const warning of request.warnings) console.error(formatProblem(warning));
  return { request, catalog };
}
