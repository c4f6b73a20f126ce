import {
  closeSync,
  constants,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { elementCount } from '../model/expected-tensors.ts';
import { encodeFloats, formatBytes } from './float-formats.ts';
import { openCheckpoint } from './safetensors.ts';

/** Values changed in a perturbed tensor. */
const changedValues = 64;

/**
 * Writes to `target` (which must not exist) a copy of the checkpoint in which one tensor differs: up to 64 of its
 * values, spread evenly, are scaled by 1.5 and moved by a quarter of the tensor's own size; of the embedding table, the
 * rows of `ids`. An engine that reads the tensor must give other logits for these ids. The weight file of the tensor is
 * copied (as a clone where the file system can), the others are hard links.
 */
export function perturbCheckpoint(
  source: string,
  target: string,
  name: string,
  ids: readonly number[],
): void {
  const checkpoint = openCheckpoint(source);
  try {
    const place = checkpoint.tensors.get(name);
    if (place === undefined) throw new AppError('CHECKPOINT_INVALID', `tensor ${name} is not in ${source}.`);
    copyFolder(source, target, basename(place.path));
    const indices = chooseIndices(
      place.shape,
      name === 'model.embed_tokens.weight' ? ids.slice(0, 4) : undefined,
    );
    const values = indices.map((index) => checkpoint.read(name, index, 1, false)[0]!);
    const size = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length) || 1;
    const descriptor = openSync(join(target, basename(place.path)), 'r+');
    try {
      for (const [position, index] of indices.entries()) {
        const bytes = encodeFloats([values[position]! * 1.5 + 0.25 * size], place.format);
        writeSync(descriptor, bytes, 0, bytes.length, place.offset + index * formatBytes[place.format]);
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  } finally {
    checkpoint.close();
  }
}

/** Whole rows where they are named (an embedding counts only for its own token), else indices all over the tensor. */
function chooseIndices(shape: readonly number[], rows: readonly number[] | undefined): number[] {
  const count = elementCount(shape);
  const width = shape.at(-1) ?? 1;
  if (rows !== undefined) {
    return [...new Set(rows)].flatMap((row) =>
      Array.from({ length: width }, (_, column) => row * width + column),
    );
  }
  const wanted = Math.min(count, changedValues);
  // Not at the start of each step, so that not only the first columns are met.
  return Array.from({ length: wanted }, (_, i) => Math.floor(((i + 0.37) * count) / wanted));
}

function copyFolder(source: string, target: string, changed: string): void {
  mkdirSync(target);
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.name === changed) copyFileSync(from, to, constants.COPYFILE_FICLONE);
    else if (entry.name.endsWith('.safetensors')) linkOrCopy(from, to);
    else if (entry.isFile() || entry.isSymbolicLink()) cpSync(from, to, { dereference: true });
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // Another file system, or a kernel that forbids links to files of others.
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  }
}
