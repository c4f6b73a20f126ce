import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  buildContractTask,
  type ContractTask,
  type TaskInput,
} from '../../../src/generation/agents/contract-task.ts';
import type { Catalog, SelectedContract } from '../../../src/model/catalog.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import {
  configForAgents,
  type PreparedEngine,
  prepareEngine,
} from '../../../src/preparation/prepare-engine.ts';
import { readConstraintFile, readRequest } from '../../../src/preparation/read-request.ts';
import { exampleNames } from '../../fixtures/examples.ts';

export const exampleFiles = [...exampleNames].sort();

export interface AgentWorld {
  readonly catalog: Catalog;
  /** Example file → its engine, every contract of which agents write. */
  readonly engines: ReadonlyMap<string, PreparedEngine>;
}

/** The examples of knowledge/, as zero-reference requests. */
export async function openAgentWorld(files: readonly string[] = exampleFiles): Promise<AgentWorld> {
  const cache = await mkdtemp(join(tmpdir(), 'metainfer-agents-'));
  try {
    const catalog = await openKnowledge(cache);
    const engines = new Map<string, PreparedEngine>();
    for (const file of files) engines.set(file, await prepareExample(catalog, file));
    return { catalog, engines };
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
}

async function prepareExample(catalog: Catalog, file: string): Promise<PreparedEngine> {
  const path = join('knowledge/examples', file);
  const request = await readRequest(await readConstraintFile(path), {
    fileName: path,
    origin: 'command-line',
    weightsRoot: undefined,
    catalog,
  });
  const { constraints } = request;
  const generation = { ...constraints.generation, mode: 'zero-reference' as const };
  const zero = { ...request, constraints: { ...constraints, generation } };
  return prepareEngine(zero, catalog, { agents: { hasModel: true } });
}

export function engineOf({ engines }: AgentWorld, file = 'tiny-qwen3.yaml'): PreparedEngine {
  const engine = engines.get(file);
  if (engine === undefined) throw new Error(`${file} is no example`);
  return engine;
}

export function taskOf(
  world: AgentWorld,
  contractId: string,
  change: Partial<TaskInput> = {},
  file?: string,
): ContractTask {
  const prepared = engineOf(world, file);
  const { constraints, model } = prepared.request;
  return buildContractTask({
    selection: prepared.selection,
    failureModes: world.catalog.failureModes,
    platform: prepared.platform,
    constraints,
    facts: model.facts,
    tokenizer: model.tokenizer,
    contractId,
    configHeader: configForAgents(prepared),
    findings: [],
    previous: null,
    ...change,
  });
}

export function agentContracts(prepared: PreparedEngine): readonly SelectedContract[] {
  return prepared.selection.contracts.filter(({ status }) => status === 'agent');
}
