import { spawn } from 'node:child_process';

/** Nothing of the caller's environment reaches a runner or its jobs. */
export const systemPath = '/usr/local/bin:/usr/bin:/bin';

const graceMilliseconds = 10_000;

/**
 * Runs a program in a process group of its own. When `signal` aborts, it gets SIGTERM, and ten seconds later the whole
 * group is killed.
 */
export function runCommand(
  command: readonly string[],
  options: {
    readonly cwd: string;
    readonly environment: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
    readonly onOutput: (text: string) => void;
  },
): Promise<{ readonly code: number | null }> {
  const [program, ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program!, args, {
      cwd: options.cwd,
      env: options.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let killer: NodeJS.Timeout | undefined;
    const stop = (): void => {
      child.kill('SIGTERM');
      killer = setTimeout(() => killGroup(child.pid), graceMilliseconds);
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', options.onOutput);
    }
    child.once('error', reject);
    child.once('close', (code) => {
      options.signal.removeEventListener('abort', stop);
      clearTimeout(killer);
      resolve({ code });
    });
    options.signal.addEventListener('abort', stop, { once: true });
    if (options.signal.aborted) stop();
  });
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group ended in between.
  }
}
