import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileLedger } from '../../../src/adapters/llm/file-ledger.ts';
import { openLanguageModel } from '../../../src/adapters/llm/open-language-model.ts';
import { readPapers } from '../../../src/local/agents/local-agents.ts';
import { driveRun, type LocalRunner } from '../../../src/local/local-runner.ts';
import type { AgentPapers } from '../../../src/model/agent-work.ts';
import type { Catalog, Selection } from '../../../src/model/catalog.ts';
import type { CompletionLedger } from '../../../src/model/completion-ledger.ts';
import { LlmSettings } from '../../../src/model/llm-settings.ts';
import type { RunState } from '../../../src/model/run.ts';
import { startRun } from '../../../src/pipeline.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { packageRoot } from '../../../src/preparation/package-root.ts';
import { prepareEngine } from '../../../src/preparation/prepare-engine.ts';
import { readRequest } from '../../../src/preparation/read-request.ts';
import { makeTestCache } from '../../fixtures/test-cache.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/model-server.ts';
import type { ModelServerOptions } from '../../support/model-server/server-options.ts';

export const tinyRequest = {
  apiVersion: 'metainfer/v1',
  name: 'tiny',
  model: { path: join(packageRoot(), 'test/fixtures/checkpoints/tiny-qwen3') },
  weights: { source: 'checkpoint' },
  hardware: { platform: 'cpu-x86_64', threads: 2, memory: '2GiB' },
  numerics: { weights: 'bf16' },
  serving: { max_context: 300, max_batch: 3 },
  workload: { prompt_tokens: 32, output_tokens: 16 },
} as const;

/**
 * Knowledge in which nothing fills these contracts for the selection's target, as if what does were for another
 * platform: what agents are for.
 */
export function withoutRealizationsOf(
  catalog: Catalog,
  selection: Selection,
  ...ids: readonly string[]
): Catalog {
  const elsewhere = selection.contracts.flatMap(({ contract, realization }) =>
    realization !== undefined && ids.includes(contract.frontMatter.id)
      ? [{ ...contract, realizations: [{ ...realization, applies: { 'hardware.platform': 'hip' } }] }]
      : [],
  );
  const byFolder = new Map(elsewhere.map((contract) => [contract.folder, contract]));
  return {
    ...catalog,
    contracts: catalog.contracts.map((contract) => byFolder.get(contract.folder) ?? contract),
  };
}

/** How the whole knowledge fills the request: what a model that is right would answer. */
export async function selectionFor(request: object, catalog: Catalog): Promise<Selection> {
  const text = JSON.stringify({ ...request, generation: {} });
  const accepted = await readRequest(text, {
    ...{ fileName: 'request.yaml', origin: 'command-line', weightsRoot: undefined, catalog },
  });
  return prepareEngine(accepted, catalog).selection;
}

export interface AgentBuild {
  readonly state: RunState;
  readonly server: ModelServer;
  readonly ledger: CompletionLedger;
  readonly papers: AgentPapers;
  readonly folder: string;
  /** Drives the run from `state` to its end. */
  goOn(): Promise<RunState>;
  close(): Promise<void>;
}

export interface AgentBuildOptions {
  readonly request?: object;
  /** What the program knows. */
  readonly catalog?: Catalog;
  readonly server: Omit<ModelServerOptions, 'port'>;
  readonly settings?: object;
  readonly stopAfter?: Parameters<typeof driveRun>[2];
  readonly sandbox?: LocalRunner['sandbox'];
  /** Kept over several builds of a suite: compiled objects and the like. */
  readonly cacheFolder?: string;
}

/** A run of the command line from its constraint file on, with a scripted model over HTTP. Close it afterwards. */
export async function buildWithAgents(options: AgentBuildOptions): Promise<AgentBuild> {
  const folder = mkdtempSync(join(tmpdir(), 'metainfer-agents-'));
  const cacheFolder = options.cacheFolder ?? makeTestCache(join(folder, 'cache'));
  const catalog = options.catalog ?? (await openKnowledge(cacheFolder));
  const server = await startModelServer(options.server);
  const settings = LlmSettings.parse({
    base_url: server.baseUrl,
    model: server.model,
    ...options.settings,
  });
  const ledger = createFileLedger(join(folder, 'calls'));
  const papersPath = join(folder, 'agents.json');
  const text = JSON.stringify(options.request ?? tinyRequest);
  const nothing = () => undefined;
  const start = startRun(
    'run-1',
    { fileName: join(folder, 'request.yaml'), text, origin: 'command-line' },
    join(folder, 'engine'),
  );
  const runner: LocalRunner = {
    ...{ catalog, weightsRoot: undefined, cacheFolder },
    ...{ sandbox: options.sandbox ?? 'auto', baseline: false, runSeed: 7 },
    signal: new AbortController().signal,
    ...{ onStep: nothing, onDetail: nothing, onNote: nothing, onStepEnd: nothing },
    save: async () => undefined,
    agents: {
      ...{ settings, ledger, papersPath },
      openModel: (limits) => openLanguageModel(settings, { apiKey: undefined, ledger, limits }),
      describeModel: () => ({ endpoint: server.baseUrl, isReal: true }),
    },
  };
  const state = await driveRun(start, runner, options.stopAfter);
  return {
    ...{ state, server, ledger, folder },
    papers: await readPapers(papersPath),
    goOn: () => driveRun(state, runner),
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
