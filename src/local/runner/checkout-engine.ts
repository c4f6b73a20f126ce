import { mkdir } from 'node:fs/promises';
import { runCommand, systemPath } from './run-command.ts';

/**
 * The engine's folder of one commit, without history and without anything else of the repository, as the workflow's
 * sparse checkout has it. The token is in the environment of git alone and stays in no file.
 * @throws Error with git's words where the commit is not there
 */
export async function checkoutEngine(request: {
  readonly cloneUrl: string;
  readonly cloneToken: string;
  readonly commit: string;
  readonly enginePath: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}): Promise<void> {
  const credentials = Buffer.from(`x-access-token:${request.cloneToken}`).toString('base64');
  const environment = {
    PATH: systemPath,
    LC_ALL: 'C',
    HOME: request.folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${credentials}`,
  };
  await mkdir(request.folder, { recursive: true });
  const git = async (...args: string[]): Promise<void> => {
    let said = '';
    const { code } = await runCommand(['git', ...args], {
      cwd: request.folder,
      environment,
      signal: request.signal,
      onOutput: (text) => {
        said += text;
      },
    });
    if (code !== 0) throw new Error(`git ${args[0]}: ${said.trim().slice(-1000)}`);
  };
  await git('init', '--quiet', '.');
  await git('fetch', '--quiet', '--depth=1', '--no-tags', request.cloneUrl, request.commit);
  // A commit without the folder is not the runner's fault: the harness says so in its result.
  await git('checkout', '--quiet', 'FETCH_HEAD', '--', request.enginePath).catch((error: Error) => {
    if (!error.message.includes('did not match')) throw error;
  });
}
