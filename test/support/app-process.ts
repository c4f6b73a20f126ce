import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'vite';
import { packageRoot } from '../../src/preparation/package-root.ts';

/** One line of the child's log. */
export interface LogLine {
  readonly msg?: string;
  readonly step?: string;
  readonly status?: string;
  readonly url?: string;
}

/** A program of the tests that was started with settings on stdin and says `ready` in its log. */
export interface AppProcess {
  /** Resolves with the address it listens on. */
  readonly ready: Promise<string>;
  /** Resolves when it is gone, whoever ended it. */
  readonly gone: Promise<void>;
  /** kill -9: not one more instruction of it runs. */
  kill(): void;
  /** Lets it drain. */
  stop(): Promise<void>;
}

/** Test programs as plain JavaScript: one started so costs a third of one that tsx has to translate. */
export interface CompiledPrograms {
  readonly folder: string;
  remove(): void;
}

/** Below the package's own folder, so that dependencies and knowledge are found from there. */
export async function compilePrograms(...names: readonly string[]): Promise<CompiledPrograms> {
  const root = packageRoot();
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, 'node_modules/.cache/metainfer-'));
  await build({
    ...{ root, configFile: false, publicDir: false, logLevel: 'warn' },
    build: {
      ...{ ssr: true, outDir: folder, minify: false, target: 'node20' },
      rollupOptions: {
        input: names.map((name) => join(root, 'test/support', `${name}.ts`)),
        output: { preserveModules: true, preserveModulesRoot: root, entryFileNames: '[name].js' },
      },
    },
  });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Starts a compiled program; `onLine` gets each line of its log as it comes. */
export function startAppProcess(
  { folder }: CompiledPrograms,
  name: string,
  settings: unknown,
  onLine: (line: LogLine) => void = () => {},
): AppProcess {
  const child = spawn(process.execPath, [join(folder, 'test/support', `${name}.js`)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'close').then(() => {});
  const ready = new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (text) => {
      const line = JSON.parse(text) as LogLine;
      if (line.msg === 'ready') resolve(line.url ?? '');
      onLine(line);
    });
    void gone.then(() => reject(new Error(`${name} ended before it was ready`)));
  });
  // One that is killed while it starts has nobody waiting for it.
  ready.catch(() => {});
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(settings)}\n`);
  return {
    ready,
    gone,
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}
