import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { formatProblem, type Problem } from '../model/problem.ts';
import { decodeFloats, type FloatFormat, formatBytes } from './float-formats.ts';
import { readSafetensorsHeader, type TensorPlace } from './safetensors-header.ts';

export interface CheckpointIndex {
  readonly folder: string;
  readonly tensors: ReadonlyMap<string, TensorPlace>;
  /** File names relative to the folder, weight files only. */
  readonly files: readonly string[];
  readonly problems: readonly Problem[];
}

/** An open checkpoint: tensors are read piece by piece, never as a whole. */
export interface Checkpoint {
  readonly folder: string;
  readonly tensors: ReadonlyMap<string, TensorPlace>;
  /** `count` elements from element `first` of a tensor, row-major, as float64, rounded to `storedAs`. */
  read(name: string, first: number, count: number, storedAs: FloatFormat): Float64Array;
  /** Bytes of a tensor as stored, `offset` from its own start. */
  readBytes(name: string, offset: number, length: number): Uint8Array;
  close(): void;
}

const singleFile = 'model.safetensors';
const indexFile = 'model.safetensors.index.json';

/** Headers of a folder in Hugging Face layout; as contract checkpoint.safetensors says, an index goes before one file. */
export function indexCheckpoint(folder: string): CheckpointIndex {
  if (existsSync(join(folder, indexFile))) return indexShards(folder);
  const path = join(folder, singleFile);
  if (existsSync(path)) {
    const { tensors, problems } = readSafetensorsHeader(path);
    const byName = new Map(tensors.map((place) => [place.name, place]));
    return { folder, tensors: byName, files: [singleFile], problems };
  }
  const message = `neither ${singleFile} nor ${indexFile} is in the checkpoint folder.`;
  return { folder, tensors: new Map(), files: [], problems: [problem(singleFile, message)] };
}

function problem(file: string, message: string): Problem {
  return { severity: 'error', code: 'checkpoint', file, message };
}

function indexShards(folder: string): CheckpointIndex {
  const problems: Problem[] = [];
  const tensors = new Map<string, TensorPlace>();
  const weightMap = readWeightMap(join(folder, indexFile), problems);
  const files = [...new Set(Object.values(weightMap))].sort();
  for (const file of files) {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*\.safetensors$/.test(file)) {
      problems.push(
        problem(
          indexFile,
          `${indexFile} names ${JSON.stringify(file)}; expected the name of a safetensors file.`,
        ),
      );
      continue;
    }
    const header = readSafetensorsHeader(join(folder, file));
    problems.push(...header.problems);
    for (const place of header.tensors) {
      if (weightMap[place.name] !== file) {
        problems.push(
          problem(file, `${file} holds tensor ${place.name}, which ${indexFile} does not place there.`),
        );
      } else tensors.set(place.name, place);
    }
    if (header.problems.length === 0) noteMissing(file, weightMap, tensors, problems);
  }
  return { folder, tensors, files, problems };
}

function noteMissing(
  file: string,
  weightMap: Readonly<Record<string, string>>,
  tensors: ReadonlyMap<string, TensorPlace>,
  problems: Problem[],
): void {
  for (const [name, shard] of Object.entries(weightMap)) {
    if (shard !== file || tensors.has(name)) continue;
    problems.push(
      problem(indexFile, `${indexFile} places tensor ${name} in ${file}, which does not hold it.`),
    );
  }
}

function readWeightMap(path: string, problems: Problem[]): Record<string, string> {
  const empty: Record<string, string> = Object.create(null);
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    problems.push(problem(indexFile, `${indexFile} is not JSON.`));
    return empty;
  }
  const map = (json as { weight_map?: unknown } | null)?.weight_map;
  const isMap =
    typeof map === 'object' && map !== null && Object.values(map).every((file) => typeof file === 'string');
  if (isMap) return Object.assign(empty, map);
  problems.push(problem(indexFile, `${indexFile} has no weight_map from tensor names to file names.`));
  return empty;
}

/** Opens a checkpoint whose headers are sound, or throws CHECKPOINT_INVALID with every problem on its own line. */
export function openCheckpoint(folder: string): Checkpoint {
  const index = indexCheckpoint(folder);
  if (index.problems.length > 0)
    throw new AppError('CHECKPOINT_INVALID', index.problems.map(formatProblem).join('\n'));
  const descriptors = new Map<string, number>();
  const find = (name: string): { place: TensorPlace; descriptor: number } => {
    const place = index.tensors.get(name);
    if (place === undefined) throw new AppError('CHECKPOINT_INVALID', `tensor ${name} is not in ${folder}.`);
    const descriptor = descriptors.get(place.path) ?? openSync(place.path, 'r');
    descriptors.set(place.path, descriptor);
    return { place, descriptor };
  };
  return {
    folder,
    tensors: index.tensors,
    read(name, first, count, storedAs) {
      const { place, descriptor } = find(name);
      const out = new Float64Array(count);
      readElements(descriptor, place, first, storedAs, out);
      return out;
    },
    readBytes(name, offset, length) {
      const { place, descriptor } = find(name);
      return readRange(descriptor, place, offset, length);
    },
    close() {
      for (const descriptor of descriptors.values()) closeSync(descriptor);
      descriptors.clear();
    },
  };
}

type Range = Pick<TensorPlace, 'name' | 'format' | 'offset' | 'bytes'>;

/** Fills `out` with elements of the tensor from element `first` on. */
export function readElements(
  descriptor: number,
  place: Range,
  first: number,
  storedAs: FloatFormat,
  out: Float64Array,
): void {
  const size = formatBytes[place.format];
  decodeFloats(readRange(descriptor, place, first * size, out.length * size), place.format, storedAs, out);
}

function readRange(descriptor: number, place: Range, start: number, length: number): Uint8Array {
  if (start < 0 || start + length > place.bytes)
    throw new AppError('INTERNAL', `read outside tensor ${place.name}.`);
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    // One read call gives at most 2 GiB.
    const got = readSync(
      descriptor,
      bytes,
      done,
      Math.min(length - done, 2 ** 30),
      place.offset + start + done,
    );
    if (got === 0)
      throw new AppError('CHECKPOINT_INVALID', `the file of tensor ${place.name} was cut while it was read.`);
    done += got;
  }
  return bytes;
}
