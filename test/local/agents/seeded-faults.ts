import { join } from 'node:path';
import { readSabotageFile } from '../../../src/local/sabotage-campaign.ts';
import type { Catalog } from '../../../src/model/catalog.ts';
import type { RunState } from '../../../src/model/run.ts';
import type { SabotageEntry, SabotageFile } from '../../../src/model/sabotage.ts';
import { packageRoot } from '../../../src/preparation/package-root.ts';
import { repliesFromKnowledge } from '../../support/model-server/knowledge-replies.ts';
import { faultyFirst, type SeededFault } from '../../support/model-server/seeded-fault.ts';
import { buildWithAgents, selectionFor, tinyRequest, withoutRealizationsOf } from './agent-build.ts';

export interface SeededRun {
  readonly fault: SeededFault;
  readonly state: RunState;
  /** Whether the contract's own gates saw the mistake; else the whole engine had to be verified. */
  readonly isSeenAlone: boolean;
}

function requestFor(entry: SabotageEntry, { checkpoints }: SabotageFile): object {
  const spec = checkpoints[entry.checkpoint]!;
  return {
    ...tinyRequest,
    name: `fault-${entry.checkpoint}`,
    model: 'path' in spec ? { path: join(packageRoot(), spec.path) } : { config: spec.config },
    weights: 'path' in spec ? { source: 'checkpoint' } : { source: 'synthetic', seed: 11 },
    numerics: { weights: entry.weights },
  };
}

/**
 * A run in which knowledge lacks the contract of the mistake and the model makes it first. Where the contract's own gates
 * have it mended, the rest is the engine that other tests verify; where they don't, the whole engine is verified.
 */
export async function runSeededFault(
  entry: SabotageEntry,
  catalog: Catalog,
  cacheFolder: string,
): Promise<SeededRun> {
  const request = requestFor(entry, await readSabotageFile());
  const fault = faultyFirst(entry);
  const selection = await selectionFor(request, catalog);
  const build = await buildWithAgents({
    ...{ request, cacheFolder },
    catalog: withoutRealizationsOf(catalog, selection, entry.contract),
    server: { replies: repliesFromKnowledge(selection, { contracts: { [entry.contract]: fault.reply } }) },
    stopAfter: 'generate',
  });
  try {
    const isSeenAlone = fault.prompts.length > 1;
    return { fault, isSeenAlone, state: isSeenAlone ? build.state : await build.goOn() };
  } finally {
    await build.close();
  }
}
