import { spawn, spawnSync } from 'node:child_process';

/** Nothing of the caller's environment reaches a runner or its jobs. */
export const systemPath = '/usr/local/bin:/usr/bin:/bin';

const graceMilliseconds = 10_000;

/**
 * Ends a command with the process that started it, also where that one is killed: Linux then sends SIGTERM to `timeout`,
 * which passes it on and kills ten seconds later what did not heed it. The 0 is no limit of time.
 */
const endsWithParent = [
  ...['setpriv', '--pdeathsig', 'TERM'],
  ...['timeout', '--foreground', `--kill-after=${graceMilliseconds / 1000}`, '0'],
];
let canEndWithParent: boolean | undefined;

/** The command under its guard; as it is where util-linux or coreutils are missing. */
function guarded(command: readonly string[]): readonly string[] {
  const [program, ...args] = [...endsWithParent, 'true'];
  canEndWithParent ??= spawnSync(program!, args, { env: { PATH: systemPath } }).status === 0;
  return canEndWithParent ? [...endsWithParent, ...command] : command;
}

/**
 * Runs a program in a process group of its own. When `signal` aborts, it gets SIGTERM, and ten seconds later the whole
 * group is killed. When this process dies, it goes the same way (on Linux).
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
  const [program, ...args] = guarded(command);
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
