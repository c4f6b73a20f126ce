import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';

const emulation = join(import.meta.dirname, '../../../src/verification/cuda-emulation');

export const plain = ['-O2'];
export const sanitized = [
  ...['-O1', '-g1', '-fsanitize=address,undefined'],
  ...['-fno-sanitize-recover=all', '-fno-omit-frame-pointer'],
];

interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

function run(command: string, words: readonly string[]): Promise<End> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { cwd: import.meta.dirname, timeout: 250_000 });
    const parts: Buffer[] = [];
    child.stdout.on('data', (part) => parts.push(part));
    child.stderr.on('data', (part) => parts.push(part));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, output: Buffer.concat(parts).toString() }));
  });
}

/** Compiles .cu files of this folder into a host program, with the warnings that engines are compiled with. */
export async function compileEmulated(
  sources: readonly string[],
  flags: readonly string[],
  binary: string,
): Promise<string> {
  const warnings = ['-Wall', '-Wextra', '-Werror', '-Wno-unknown-pragmas'];
  const words = ['-std=c++20', ...flags, ...warnings, '-pthread', '-I', emulation, '-x', 'c++', ...sources];
  const end = await run('g++', [...words, '-o', binary]);
  expect(end.output).toBe('');
  expect(end.code).toBe(0);
  return binary;
}

/** Runs one case of a program to its end. */
export async function expectDone(binary: string, name: string): Promise<void> {
  const end = await run(binary, [name]);
  expect(end.output).toMatch(/done\n$/);
  expect([end.code, end.signal]).toEqual([0, null]);
}

/** Runs one case of a program that must not come to its end, and gives what it says. */
export async function runToFault(binary: string, name: string): Promise<string> {
  const end = await run(binary, [name]);
  expect(end.output).not.toContain('done');
  expect(end.output).not.toContain('not so');
  expect(end.code).not.toBe(0);
  return end.output;
}
