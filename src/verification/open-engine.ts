import { readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { type EngineClient, startEngine } from './protocol-client.ts';
import type { Limits, Sandbox } from './sandbox.ts';

/** Folders that must be visible for a checkpoint to be read: a Hugging Face cache keeps the files elsewhere. */
export function checkpointPaths(folder: string): string[] {
  const paths = new Set([folder]);
  for (const name of readdirSync(folder)) {
    try {
      paths.add(dirname(realpathSync(join(folder, name))));
    } catch {
      // A link to nowhere: the engine must say so.
    }
  }
  return [...paths];
}

export interface OpenEngineOptions {
  readonly binary: string;
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly limits: Partial<Limits>;
  /** Of the GPU that it uses. */
  readonly devices?: readonly string[] | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Quiet about leaks: finding them needs ptrace, which the sandbox doesn't give. */
const sanitizerEnvironment = {
  ASAN_OPTIONS: 'detect_leaks=0:detect_stack_use_after_return=1',
  UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
};

/** A fresh engine process with a checkpoint loaded. Throws EngineFailure where it can't load it. */
export async function openEngine(options: OpenEngineOptions): Promise<EngineClient> {
  const client = startEngine({
    sandbox: options.sandbox,
    command: [options.binary, '--harness'],
    readOnlyPaths: [options.binary, ...checkpointPaths(options.folder)],
    environment: sanitizerEnvironment,
    ...(options.devices === undefined ? {} : { devices: options.devices }),
    limits: options.limits,
    timeoutMs: options.timeoutMs,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  try {
    await client.hello();
    await client.load(options.folder);
    return client;
  } catch (error) {
    client.kill();
    await client.channel.ended;
    if (options.signal?.aborted === true) throw new AppError('INTERNAL', 'Verification was stopped.');
    throw error;
  }
}
