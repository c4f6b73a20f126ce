import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StoreTarget } from '../../../src/adapters/store/open-store.ts';

const script = fileURLToPath(new URL('./store-child.ts', import.meta.url));

/** An app instance in another process. */
export interface ChildInstance {
  /** What it has said so far, line by line; the last line only when it is whole. */
  readonly lines: () => readonly string[];
  /** kill -9; resolves once it is gone. */
  kill(): Promise<void>;
}

export function startChild(target: StoreTarget, mode: 'accept' | 'hold-step', argument = ''): ChildInstance {
  const args = ['--import', 'tsx', script, JSON.stringify(target), mode, argument];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return {
    lines: () => text.split('\n').slice(0, -1),
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
