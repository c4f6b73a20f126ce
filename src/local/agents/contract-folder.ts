import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentFile } from '../../model/agent-work.ts';
import type { EngineFile } from '../../model/engine.ts';
import { composePrepared, type PreparedEngine } from '../../preparation/prepare-engine.ts';
import type { EngineUnderTest } from '../../verification/gate-context.ts';
import { engineUnderTest } from '../judge-engine.ts';

export interface ContractFolder {
  readonly engine: EngineUnderTest;
  readonly files: readonly EngineFile[];
}

/**
 * Writes the C++ of the engine as far as it has come into a fresh folder below `below`: every header, config.h,
 * realizations, and the files of agents. The texts are those of the finished engine, so that what is compiled here is
 * in the cache when the whole is built.
 */
export async function writeContractFolder(
  prepared: PreparedEngine,
  agentFiles: ReadonlyMap<string, AgentFile>,
  below: string,
): Promise<ContractFolder> {
  await mkdir(below, { recursive: true });
  const folder = await mkdtemp(join(below, 'engine-'));
  const composed = composePrepared(prepared, { agentFiles, isPartial: true });
  const files = composed.files.filter(({ path }) => /\.(?:h|cpp)$/.test(path));
  for (const { path, text } of files) await writeFile(join(folder, path), text);
  const engine = engineUnderTest(prepared, folder);
  const isThere = new Set(files.map(({ path }) => path));
  const contracts = engine.contracts.map((entry) => ({
    ...entry,
    source: entry.source !== null && isThere.has(entry.source) ? entry.source : null,
  }));
  return { engine: { ...engine, contracts }, files };
}
