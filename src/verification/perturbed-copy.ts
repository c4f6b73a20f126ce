import {
  closeSync,
  constants,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { AppError } from '../model/errors.ts';
import { indexCheckpoint } from './safetensors.ts';
import type { TensorPlace } from './safetensors-header.ts';

const changedRows = 8;

/** x + 0.25 in the tensor's own format; for f16 the top bit of the fraction is flipped, which is as good. */
function changeElements(bytes: Buffer, format: TensorPlace['format']): void {
  if (format === 'f32') {
    for (let at = 0; at < bytes.length; at += 4) bytes.writeFloatLE(bytes.readFloatLE(at) + 0.25, at);
    return;
  }
  const word = Buffer.alloc(4);
  for (let at = 0; at < bytes.length; at += 2) {
    const bits = bytes.readUInt16LE(at);
    if (format === 'f16') {
      bytes.writeUInt16LE(bits ^ 0x0200, at);
      continue;
    }
    word.writeUInt32LE((bits << 16) >>> 0);
    word.writeFloatLE(word.readFloatLE(0) + 0.25);
    bytes.writeUInt16LE(word.readUInt16LE(2), at);
  }
}

/** First and count of each run of rows to change: those of the ids in an embedding table, else the first few. */
function rowsToChange(place: TensorPlace, ids: readonly number[]): readonly (readonly [number, number])[] {
  const rows = place.shape.length === 1 ? 1 : place.shape[0]!;
  if (/embed_tokens/.test(place.name)) return [...new Set(ids)].map((id) => [id, 1] as const);
  return [[0, Math.min(rows, changedRows)]];
}

/**
 * A copy of a checkpoint in which one tensor differs. Files that don't hold it are links, so that only its own file is
 * written (a block clone where the file system can).
 */
export function writePerturbedCopy(
  source: string,
  tensor: string,
  ids: readonly number[],
  target: string,
): void {
  const place = indexCheckpoint(source).tensors.get(tensor);
  if (place === undefined) throw new AppError('CHECKPOINT_INVALID', `tensor ${tensor} is not in ${source}.`);
  mkdirSync(target, { recursive: true });
  const file = basename(place.path);
  for (const name of readdirSync(source)) {
    if (name !== file) symlinkSync(resolve(source, name), join(target, name));
  }
  copyFileSync(place.path, join(target, file), constants.COPYFILE_FICLONE);
  const rowBytes = place.bytes / (place.shape.length === 1 ? 1 : place.shape[0]!);
  const descriptor = openSync(join(target, file), 'r+');
  try {
    for (const [first, count] of rowsToChange(place, ids)) {
      const at = place.offset + first * rowBytes;
      const bytes = Buffer.alloc(count * rowBytes);
      readSync(descriptor, bytes, 0, bytes.length, at);
      changeElements(bytes, place.format);
      writeSync(descriptor, bytes, 0, bytes.length, at);
    }
  } finally {
    closeSync(descriptor);
  }
}
