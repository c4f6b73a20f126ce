import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../preparation/package-root.ts';
import { systemPath } from './run-command.ts';
import type { RunnerSettings } from './runner-settings.ts';

export interface LocalRunnerOptions {
  readonly url: string;
  readonly token: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly workFolder: string;
  readonly weightsFolder: string | null;
  readonly cacheFolder: string;
  readonly sandbox?: 'auto' | 'off';
  /** Another harness than this program's own. */
  readonly harness?: readonly string[];
  /** What the runner says of its jobs. */
  readonly onLine?: (line: string) => void;
}

export interface StartedRunner {
  readonly pid: number;
  /** Resolves with the exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
  /** Ends the job at hand, if there is one, and the runner. */
  stop(): Promise<void>;
}

const endMilliseconds = 15_000;

/** Starts a runner as a child process. It takes one job after the other and ends with its parent. */
export function startLocalRunner(options: LocalRunnerOptions): StartedRunner {
  const { onLine, ...told } = options;
  const settings: RunnerSettings = {
    ...told,
    labels: [...options.labels],
    sandbox: options.sandbox ?? 'auto',
    harness: [...(options.harness ?? sourceCommand(join('src', 'cli')))],
  };
  const [program, ...args] = sourceCommand(join('src', 'local', 'runner', 'runner-main'));
  const child = spawn(program!, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { PATH: systemPath } });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  createInterface(child.stdout).on('line', (line) => onLine?.(line));
  // A runner that ended already has nothing to read.
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(settings)}\n`);
  return {
    pid: child.pid ?? 0,
    ended,
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), endMilliseconds);
      child.stdin.end();
      await ended;
      clearTimeout(timer);
    },
  };
}

/** How a file of this program is started, from the sources or from the build, whichever runs now. */
function sourceCommand(path: string): readonly string[] {
  const isBuilt = fileURLToPath(import.meta.url).endsWith('.js');
  if (isBuilt) return [process.execPath, join(packageRoot(), 'dist', `${path}.js`)];
  return [process.execPath, '--import', import.meta.resolve('tsx'), join(packageRoot(), `${path}.ts`)];
}
