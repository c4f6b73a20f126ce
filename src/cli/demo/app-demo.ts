import { once } from 'node:events';
import { Octokit } from '@octokit/rest';
import { readDemoConstraints, writeIssueBody } from '../../local/demo/demo-request.ts';
import { AppError } from '../../model/errors.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { isOpen } from '../../pipeline.ts';
import type { CommandContext, CommandResult } from '../command.ts';
import { renderDemoEnd } from './demo-end.ts';
import { type AppDemo, startAppDemo } from './start-app-demo.ts';
import { describeWebhook } from './watch-demo.ts';

const longestMinutes = 20;
const pollMs = 300;

/** Starts everything, asks for the shipped example as a person would, shows what happens, and ends with what came of it. */
export async function runAppDemo(
  context: CommandContext,
  options: { readonly print: (text: string) => void; readonly byPull: boolean; readonly stays: boolean },
): Promise<CommandResult> {
  const began = performance.now();
  const tell = (source: string, text: string) =>
    options.print(
      `${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${source.padEnd(7)}  ${text}`,
    );
  options.print('A local stand-in for GitHub, the app and a runner, on free ports of this machine.\n');
  const demo = await startAppDemo(context.config, {
    onWebhook(event, payload) {
      const line = describeWebhook(event, payload);
      if (line !== undefined) tell('github', line);
    },
    onRunner: (line) => tell('runner', line),
  });
  try {
    const { owner, name } = demo.seed.repository;
    tell('demo', `repository ${demo.github.url}/${owner.login}/${name}, app at ${demo.app.url}/runs`);
    const person = new Octokit({ auth: demo.seed.person.token, baseUrl: demo.github.apiUrl });
    await (options.byPull ? askByPull(person, demo) : askByIssue(person, demo));
    const run = await waitForEnd(demo, context.signal);
    const seconds = (performance.now() - began) / 1000;
    const { text, data } = await renderDemoEnd(person, demo, run, seconds);
    options.print(text);
    if (options.stays) await stay(options.print, context.signal);
    return { exitCode: run.state.status === 'passed' ? 0 : 1, data, text: '' };
  } finally {
    await demo.stop();
  }
}

async function askByIssue(person: Octokit, { seed }: AppDemo): Promise<void> {
  await person.rest.issues.create({
    owner: seed.repository.owner.login,
    repo: seed.repository.name,
    title: 'Engine request: tiny-qwen3',
    body: writeIssueBody(await readDemoConstraints()),
  });
}

/** A branch with a constraint file, and a pull request for it. */
async function askByPull(person: Octokit, { seed }: AppDemo): Promise<void> {
  const place = { owner: seed.repository.owner.login, repo: seed.repository.name };
  const { data: base } = await person.rest.git.getRef({
    ...place,
    ref: `heads/${seed.repository.defaultBranch}`,
  });
  const branch = 'ask-for-tiny-qwen3';
  await person.rest.git.createRef({ ...place, ref: `refs/heads/${branch}`, sha: base.object.sha });
  await person.rest.repos.createOrUpdateFileContents({
    ...place,
    branch,
    path: 'constraints/tiny-qwen3.yaml',
    message: 'feat(constraints): tiny-qwen3 on two cores',
    content: Buffer.from(await readDemoConstraints()).toString('base64'),
  });
  await person.rest.pulls.create({
    ...place,
    head: branch,
    base: seed.repository.defaultBranch,
    title: 'Ask for a tiny-qwen3 engine',
    body: 'A constraint file for two cores.',
  });
}

async function waitForEnd({ app }: AppDemo, signal: AbortSignal): Promise<RunRecord> {
  const deadline = Date.now() + longestMinutes * 60_000;
  for (;;) {
    signal.throwIfAborted();
    const [run] = await app.store.listRuns({ limit: 1 });
    if (run !== undefined && !isOpen(run.state)) return run;
    if (Date.now() > deadline)
      throw new AppError('INTERNAL', `The demo did not end within ${longestMinutes} minutes.`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function stay(print: (text: string) => void, signal: AbortSignal): Promise<void> {
  print('\nEverything stays up to look at; Ctrl-C ends it.');
  if (!signal.aborted) await once(signal, 'abort');
}
