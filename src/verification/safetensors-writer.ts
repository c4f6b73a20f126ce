import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { elementCount } from '../model/expected-tensors.ts';
import { type FloatFormat, formatBytes } from './float-formats.ts';

/** A tensor to be written; its bytes come piece by piece, so that no tensor need be in memory as a whole. */
export interface TensorSource {
  readonly name: string;
  readonly format: FloatFormat;
  readonly shape: readonly number[];
  readonly pieces: () => Iterable<Uint8Array>;
}

export interface CheckpointFiles {
  readonly config: unknown;
  readonly generationConfig?: unknown;
  readonly tensors: readonly TensorSource[];
  /** Number of weight files; more than one adds model.safetensors.index.json. */
  readonly shards?: number;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
  readonly signal?: AbortSignal;
}

const dtypeName: Readonly<Record<FloatFormat, string>> = { f32: 'F32', bf16: 'BF16', f16: 'F16' };

export function tensorBytes(tensor: Pick<TensorSource, 'shape' | 'format'>): number {
  return elementCount(tensor.shape) * formatBytes[tensor.format];
}

/** Length prefix and JSON of a safetensors file whose tensors lie in this order, padded so that the data is 8-aligned. */
export function encodeHeader(tensors: readonly Pick<TensorSource, 'name' | 'format' | 'shape'>[]): Buffer {
  const entries: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let offset = 0;
  for (const tensor of tensors) {
    const end = offset + tensorBytes(tensor);
    entries[tensor.name] = {
      dtype: dtypeName[tensor.format],
      shape: tensor.shape,
      data_offsets: [offset, end],
    };
    offset = end;
  }
  const json = JSON.stringify(entries);
  const text = Buffer.from(
    json.padEnd(Math.ceil(Buffer.byteLength(json) / 8) * 8 - (Buffer.byteLength(json) - json.length)),
  );
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([prefix, text]);
}

/**
 * Writes a checkpoint folder in Hugging Face layout. It appears under its name only when it is whole: until then it is
 * a neighbour with `.partial` in its name, which is removed on failure and on abort.
 */
export async function writeCheckpoint(folder: string, files: CheckpointFiles): Promise<void> {
  const partial = `${folder}.partial-${process.pid}`;
  await rm(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  try {
    writeFileSync(join(partial, 'config.json'), `${JSON.stringify(files.config, null, 2)}\n`);
    if (files.generationConfig !== undefined) {
      writeFileSync(
        join(partial, 'generation_config.json'),
        `${JSON.stringify(files.generationConfig, null, 2)}\n`,
      );
    }
    await writeShards(partial, files);
    await rename(partial, folder);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function writeShards(folder: string, files: CheckpointFiles): Promise<void> {
  const shards = splitByBytes(files.tensors, files.shards ?? 1);
  const total = files.tensors.reduce((sum, tensor) => sum + tensorBytes(tensor), 0);
  const weightMap: Record<string, string> = {};
  let done = 0;
  const step = (bytes: number) => {
    done += bytes;
    files.onProgress?.(done, total);
  };
  for (const [index, tensors] of shards.entries()) {
    const number = (value: number) => String(value).padStart(5, '0');
    const isSingle = shards.length === 1;
    const file = isSingle
      ? 'model.safetensors'
      : `model-${number(index + 1)}-of-${number(shards.length)}.safetensors`;
    for (const tensor of tensors) weightMap[tensor.name] = file;
    await writeShard(join(folder, file), tensors, step, files.signal);
  }
  if (shards.length === 1) return;
  const index = { metadata: { total_size: total }, weight_map: weightMap };
  writeFileSync(join(folder, 'model.safetensors.index.json'), `${JSON.stringify(index, null, 2)}\n`);
}

async function writeShard(
  path: string,
  tensors: readonly TensorSource[],
  onBytes: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const descriptor = openSync(path, 'wx');
  try {
    writeFully(descriptor, encodeHeader(tensors));
    for (const tensor of tensors) {
      for (const piece of tensor.pieces()) {
        writeFully(descriptor, piece);
        onBytes(piece.length);
        // Gives signals and progress lines their turn.
        await nextTurn();
        signal?.throwIfAborted();
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

function writeFully(descriptor: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(descriptor, bytes, done);
}

/** Cuts the list into `count` runs of about equal size; never more runs than tensors. */
function splitByBytes(tensors: readonly TensorSource[], count: number): TensorSource[][] {
  const wanted = Math.max(1, Math.min(count, tensors.length));
  const total = tensors.reduce((sum, tensor) => sum + tensorBytes(tensor), 0);
  const shards: TensorSource[][] = [[]];
  let done = 0;
  for (const [index, tensor] of tensors.entries()) {
    const isFull = done >= (total / wanted) * shards.length;
    const mustCut = tensors.length - index <= wanted - shards.length;
    if (shards.at(-1)!.length > 0 && shards.length < wanted && (isFull || mustCut)) shards.push([]);
    shards.at(-1)!.push(tensor);
    done += tensorBytes(tensor);
  }
  return shards;
}
