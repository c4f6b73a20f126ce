import { spawn } from 'node:child_process';

/** git ended with a non-zero status; the message is its stderr. */
export class GitFailure extends Error {
  readonly status: number | null;
  readonly stdout: Buffer;

  constructor(args: readonly string[], status: number | null, stdout: Buffer, stderr: string) {
    super(`git ${args[0]}: ${stderr.trim() || `ended with status ${status}`}`);
    this.name = 'GitFailure';
    this.status = status;
    this.stdout = stdout;
  }
}

/** No setting of the machine or its user reaches the stand-in's git. */
const gitEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LC_ALL: 'C',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
};

/**
 * Runs git in a bare repository and gives its stdout.
 * @throws GitFailure where it ends with another status than 0
 */
export function runGit(
  folder: string,
  args: readonly string[],
  input: Buffer | string = '',
  environment: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const env = { ...gitEnvironment, ...environment };
    const child = spawn('git', args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    const problems: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => problems.push(chunk));
    // git may end before it has read all; its status tells.
    child.stdin.on('error', () => {});
    child.on('error', reject);
    child.on('close', (status) => {
      const stdout = Buffer.concat(out);
      if (status === 0) resolve(stdout);
      else reject(new GitFailure(args, status, stdout, Buffer.concat(problems).toString('utf8')));
    });
    child.stdin.end(input);
  });
}
