import { cpSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AppSettings, type RunningApp, startApp } from '../../src/app.ts';
import { readDemoConstraints } from '../../src/local/demo/demo-request.ts';
import type { Selection } from '../../src/model/catalog.ts';
import { LlmSettings } from '../../src/model/llm-settings.ts';
import type { RunRecord } from '../../src/model/run-record.ts';
import { isOpen } from '../../src/pipeline.ts';
import { knowledgeRoot, openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { prepareEngine } from '../../src/preparation/prepare-engine.ts';
import { readRequest } from '../../src/preparation/read-request.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';
import { commitFile } from '../support/commit-file.ts';
import type { ApiCall } from '../support/github-api.ts';
import { type KnowledgeReplies, repliesFromKnowledge } from '../support/model-server/knowledge-replies.ts';
import { type ModelServer, startModelServer } from '../support/model-server/model-server.ts';
import type { ModelServerOptions } from '../support/model-server/server-options.ts';

/** Dozens of steps on two cores that are busy with something else. */
export const patienceSeconds = 600;

/** The app with a scripted model, and a repository whose people ask for engines that agents write. */
export interface AgentWorld {
  readonly world: BotWorld;
  readonly app: RunningApp;
  readonly server: ModelServer;
  /** As the app was started with, for another one. */
  readonly settings: AppSettings;
  /** Opens an issue that asks for an engine of this name: in zero-reference mode where knowledge has no gaps. */
  ask(name: string, replace?: readonly (readonly [RegExp, string])[]): Promise<number>;
  /** Comments as ada, who may write. */
  say(number: number, body: string): Promise<void>;
  get(path: string): Promise<Awaited<ReturnType<ApiCall>>['body']>;
  bodies(path: string): Promise<string[]>;
  waitFor(issue: number, what: string, isThere: (run: RunRecord) => boolean): Promise<RunRecord>;
  ended(issue: number): Promise<RunRecord>;
  stop(): Promise<void>;
}

export const zeroReference = 'generation:\n  mode: zero-reference\n';
const catalog = await openKnowledge(join(tmpdir(), 'metainfer-test-cache'));
export const selection: Selection = await selectForTest();

async function selectForTest(): Promise<Selection> {
  const text = `${(await readDemoConstraints()).trimEnd()}\n${zeroReference}`;
  const request = await readRequest(text, {
    ...{ fileName: 'issue', origin: 'github', weightsRoot: undefined, isElsewhere: true, catalog },
  });
  return prepareEngine(request, catalog, { agents: { hasModel: true } }).selection;
}

export function knowledgeWithout(gaps: readonly string[], folder: string): string {
  const copy = join(folder, 'knowledge');
  cpSync(knowledgeRoot(), copy, { recursive: true });
  for (const gap of gaps)
    for (const part of ['realizations', 'evidence.yaml'])
      rmSync(join(copy, 'contracts', gap, part), { recursive: true });
  return copy;
}

export async function startAgentWorld(
  options: {
    readonly replies?: KnowledgeReplies;
    readonly server?: Partial<ModelServerOptions>;
    readonly llm?: Record<string, unknown>;
    /** Text of .github/metainfer.yml; default: no plan waits for its tokens. */
    readonly config?: string;
    /** Folders of knowledge/contracts whose realizations are taken away: agents write these, knowledge the rest. */
    readonly gaps?: readonly string[];
  } = {},
): Promise<AgentWorld> {
  const server = await startModelServer({
    replies: repliesFromKnowledge(selection, options.replies ?? {}),
    ...options.server,
  });
  const world = await startBotWorld();
  const settings = LlmSettings.parse({ base_url: server.baseUrl, model: server.model, ...options.llm });
  const knowledge =
    options.gaps === undefined ? {} : { knowledgeFolder: knowledgeWithout(options.gaps, world.folder) };
  const appSettings: AppSettings = {
    ...world.settings,
    ...knowledge,
    llm: { settings, apiKey: 'test-key' },
  };
  const app = await startApp(appSettings, log);
  const config = options.config ?? 'generation: { auto_approve_tokens: 100000000 }\n';
  await commitFile(world.ada, world.repository, {
    ...{ branch: 'main', path: '.github/metainfer.yml', text: config },
  });
  const waitFor: AgentWorld['waitFor'] = (issue, what, isThere) =>
    eventually(
      `${what} (#${issue})`,
      async () => {
        const [run] = await app.store.listRuns({ sourceKind: 'issue', sourceNumber: issue, limit: 1 });
        return run !== undefined && isThere(run) ? run : undefined;
      },
      patienceSeconds,
    );
  const get = async (path: string) => (await world.ada('GET', `${world.repository}/${path}`)).body;
  return {
    ...{ world, app, server, waitFor, get, settings: appSettings },
    async ask(name, replace = []) {
      const text = await engineRequest([
        [/^name: tiny-qwen3/m, `name: ${name}`],
        ...(options.gaps === undefined ? [[/\s*$/, `\n${zeroReference}`] as const] : []),
        ...replace,
      ]);
      const { body: issue } = await world.ada('POST', `${world.repository}/issues`, {
        title: name,
        body: text,
      });
      return issue.number;
    },
    async say(number, body) {
      await world.ada('POST', `${world.repository}/issues/${number}/comments`, { body });
    },
    bodies: async (path) => (await get(path)).map(({ body }: { body: string }) => body),
    ended: (issue) => waitFor(issue, 'the end', ({ state }) => !isOpen(state)),
    async stop() {
      await app.stop(5);
      await world.stop();
      await server.close();
    },
  };
}
