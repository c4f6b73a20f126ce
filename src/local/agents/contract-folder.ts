import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listedConstants, toConfigInput } from '../../generation/compose-engine.ts';
import { renderConfigHeader } from '../../generation/config-header.ts';
import type { AgentFile } from '../../model/agent-work.ts';
import { isConfigConstant } from '../../model/config-constants.ts';
import type { PreparedEngine } from '../../preparation/prepare-engine.ts';
import type { EngineUnderTest } from '../../verification/gate-context.ts';
import { engineUnderTest } from '../judge-engine.ts';

/**
 * Writes what there is of the engine so far into a fresh folder below `below`: every header, config.h with all that
 * its contracts list, realizations, and the files of agents. Not the engine's folder: nothing here is published.
 */
export async function writeContractFolder(
  prepared: PreparedEngine,
  agentFiles: ReadonlyMap<string, AgentFile>,
  below: string,
): Promise<EngineUnderTest> {
  await mkdir(below, { recursive: true });
  const folder = await mkdtemp(join(below, 'engine-'));
  const { request, selection, platform } = prepared;
  const config = {
    ...toConfigInput(request.constraints, request.model.facts, platform),
    modelConfig: request.model.config,
  };
  const wanted = new Set([...listedConstants(selection)].filter(isConfigConstant));
  await writeFile(join(folder, 'config.h'), renderConfigHeader(config, wanted));
  const engine = engineUnderTest(prepared, folder);
  const contracts = engine.contracts.map((entry) => ({
    ...entry,
    source: agentFiles.has(entry.id) ? sourceOf(entry.header) : entry.source,
    isAgentWritten: agentFiles.has(entry.id),
  }));
  for (const { contract, realization } of selection.contracts) {
    const { name, text } = contract.header;
    await writeFile(join(folder, name), text);
    const source = agentFiles.get(contract.frontMatter.id)?.text ?? realization?.text;
    if (source !== undefined) await writeFile(join(folder, sourceOf(name)), source);
  }
  return { ...engine, contracts };
}

function sourceOf(header: string): string {
  return header.replace(/\.h$/, '.cpp');
}
