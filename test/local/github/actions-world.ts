import { renderWorkflow, workflowPath } from '../../../src/adapters/runner/workflow-text.ts';
import { type LocalGitHub, startLocalGitHub } from '../../../src/local/github/local-github.ts';
import { runnerToken } from '../../../src/local/github/runner-state.ts';
import type { Repository } from '../../../src/local/github/world.ts';
import { type ApiCall, apiOf } from '../../support/github-api.ts';
import { type GitHubWatch, watchGitHub } from '../../support/watch-github.ts';
import { installationToken } from './conversation-world.ts';

export const workflowText = renderWorkflow({
  homeRepository: 'acme/metainfer-bot',
  homeSha: 'f'.repeat(40),
});

export interface ActionsWorld {
  readonly github: LocalGitHub;
  readonly repository: Repository;
  readonly watch: GitHubWatch;
  /** An installation with actions: write. */
  readonly bot: ApiCall;
  readonly mona: ApiCall;
  readonly rita: ApiCall;
  /** Names of events with action and status, in order. */
  readonly events: string[];
  // biome-ignore lint/suspicious/noExplicitAny: payloads are checked against GitHub's schemas, not by types
  readonly payloads: any[];
  /** A call of the runner's routes. */
  runner(
    path: string,
    body: object,
    token?: string,
  ): Promise<{ readonly status: number; readonly body: unknown }>;
  stop(): Promise<void>;
}

export const base = '/repos/mona/engines';
export const file = workflowPath.slice(workflowPath.lastIndexOf('/') + 1);

/** Inputs of a dispatch as the bot sends them. */
export function dispatchInputs(changes: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    engine_sha: 'a'.repeat(40),
    request_id: 'run-0001-1',
    constraints_sha256: 'c'.repeat(64),
    engine_path: 'engines/tiny',
    labels: '["self-hosted","linux","metainfer-cpu-avx2"]',
    baseline: 'none',
    ...changes,
  };
}

export async function openActionsWorld(
  options: { readonly now?: () => Date; readonly files?: Readonly<Record<string, string>> } = {},
): Promise<ActionsWorld> {
  const events: string[] = [];
  const payloads: unknown[] = [];
  const github = await startLocalGitHub(options.now === undefined ? {} : { now: options.now });
  const watch = watchGitHub(github);
  github.observe({
    onDelivery: ({ event, action, payload }) => {
      if (!event.startsWith('workflow_')) return;
      events.push(`${event}.${action}`);
      payloads.push(payload);
    },
  });
  const files = { [workflowPath]: workflowText, 'README.md': 'engines\n', ...options.files };
  const repository = await github.addRepository('mona', 'engines', { files, isPrivate: true });
  const rita = github.addUser('rita');
  repository.collaborators.set(rita.id, 'read');
  const { app } = github.addApp({
    name: 'MetaInfer Test',
    permissions: { actions: 'write', contents: 'read' },
    events: ['workflow_run', 'workflow_job'],
    webhookUrl: 'http://127.0.0.1:9/never',
    webhookSecret: 'a secret of sufficient length',
  });
  const installation = github.install(app, [repository]);
  return {
    github,
    repository,
    watch,
    events,
    payloads,
    bot: apiOf(github, installationToken(github, installation)),
    mona: apiOf(github, github.userToken('mona')),
    rita: apiOf(github, github.userToken('rita')),
    async runner(path, body, token = runnerToken(github.world)) {
      const response = await fetch(`${github.url}/_runner/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-runner-token': token },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    },
    stop: () => github.stop(),
  };
}
