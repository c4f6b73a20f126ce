import { createHash } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { indexCheckpoint } from './safetensors.ts';

/** Written after verification; the verdict is about the rest. */
const outcomeFiles: ReadonlySet<string> = new Set(['report.json', 'report.md', 'README.md', 'build']);

/** SHA-256 over names and contents of an engine folder's files, in name order, without report and README. */
export function hashEngineTree(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder)
    .filter((entry) => !outcomeFiles.has(entry))
    .sort()) {
    // A link or a folder is no part of an engine; the static gate says so, and the hash must not follow it.
    const isPlain = lstatSync(join(folder, name)).isFile();
    const bytes = isPlain ? readFileSync(join(folder, name)) : Buffer.from('not a plain file');
    hash.update(`${name}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}

/** Lines of the engine's C++. */
export function countEngineLines(folder: string): number {
  return readdirSync(folder)
    .filter((name) => /\.(?:h|cpp|cu)$/.test(name) && lstatSync(join(folder, name)).isFile())
    .reduce((sum, name) => sum + readFileSync(join(folder, name), 'utf8').split('\n').length - 1, 0);
}

const fullHashBytes = 2 ** 28;
const sampleBytes = 2 ** 16;
const sampleCount = 256;

export interface WeightsHash {
  readonly sha256: string;
  readonly method: 'full' | 'sampled';
  readonly bytes: number;
}

/**
 * Which weights these are. Up to 256 MiB every byte counts; above, each file's size, its first MiB (the header) and
 * 256 blocks of 64 KiB spread evenly over it.
 */
export function hashWeights(folder: string): WeightsHash {
  const files = [...indexCheckpoint(folder).files].sort();
  const bytes = files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  const method = bytes <= fullHashBytes ? 'full' : 'sampled';
  const hash = createHash('sha256').update(readFileSync(join(folder, 'config.json')));
  for (const file of files) {
    const size = statSync(join(folder, file)).size;
    hash.update(`${file}\n${size}\n`);
    if (method === 'full') hash.update(readFileSync(join(folder, file)));
    else hashSamples(join(folder, file), size, hash);
  }
  return { sha256: hash.digest('hex'), method, bytes };
}

function hashSamples(path: string, size: number, hash: ReturnType<typeof createHash>): void {
  const descriptor = openSync(path, 'r');
  try {
    const head = Buffer.alloc(Math.min(size, 2 ** 20));
    readSync(descriptor, head, 0, head.length, 0);
    hash.update(head);
    const block = Buffer.alloc(sampleBytes);
    for (let index = 0; index < sampleCount; index++) {
      const at = Math.floor((index * Math.max(0, size - sampleBytes)) / (sampleCount - 1));
      hash.update(block.subarray(0, readSync(descriptor, block, 0, sampleBytes, at)));
    }
  } finally {
    closeSync(descriptor);
  }
}
