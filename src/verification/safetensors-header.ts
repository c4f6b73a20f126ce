import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { elementCount } from '../model/expected-tensors.ts';
import type { Problem } from '../model/problem.ts';
import { type FloatFormat, formatBytes } from './float-formats.ts';

/** Where one tensor lies: `offset` counts from the start of the file. */
export interface TensorPlace {
  readonly name: string;
  readonly format: FloatFormat;
  readonly shape: readonly number[];
  readonly path: string;
  readonly offset: number;
  readonly bytes: number;
}

export interface HeaderResult {
  readonly tensors: readonly TensorPlace[];
  readonly problems: readonly Problem[];
}

const formatOf: Readonly<Record<string, FloatFormat>> = { F32: 'f32', BF16: 'bf16', F16: 'f16' };
/** The limit of the safetensors library itself. */
const maxHeaderBytes = 100_000_000;
const maxProblems = 20;

/** Reads and checks the header of one safetensors file, strictly as its format says: no gap, no overlap, no rest. */
export function readSafetensorsHeader(path: string): HeaderResult {
  const file = basename(path);
  const fail = (message: string): HeaderResult => ({
    tensors: [],
    problems: [{ severity: 'error', code: 'safetensors-header', file, message }],
  });
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    return fail(`${file} cannot be opened: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}.`);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return fail(`${file} is not a regular file.`);
    const text = readHeaderText(descriptor, stat.size);
    if ('fault' in text) return fail(`${file} ${text.fault}`);
    return parseHeader(path, text.json, 8 + text.bytes, stat.size);
  } finally {
    closeSync(descriptor);
  }
}

function readHeaderText(
  descriptor: number,
  size: number,
): { json: unknown; bytes: number } | { fault: string } {
  const prefix = Buffer.alloc(8);
  if (size < 8 || readSync(descriptor, prefix, 0, 8, 0) < 8)
    return { fault: `is truncated: ${size} bytes, header length cut off.` };
  const length = prefix.readBigUInt64LE(0);
  if (length > BigInt(maxHeaderBytes)) return { fault: `has a corrupt header length, ${length} bytes.` };
  const bytes = Number(length);
  if (8 + bytes > size)
    return {
      fault: `is truncated or has a corrupt header length: header of ${bytes} bytes in a file of ${size}.`,
    };
  const text = Buffer.alloc(bytes);
  if (readSync(descriptor, text, 0, bytes, 8) < bytes) return { fault: 'is truncated inside its header.' };
  try {
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text)), bytes };
  } catch {
    return { fault: 'has a header that is not JSON.' };
  }
}

function parseHeader(path: string, json: unknown, dataStart: number, size: number): HeaderResult {
  const file = basename(path);
  const problems: Problem[] = [];
  const note = (message: string) => {
    if (problems.length < maxProblems)
      problems.push({ severity: 'error', code: 'safetensors-header', file, message });
  };
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    note(`${file} has a header that is not a JSON object.`);
    return { tensors: [], problems };
  }
  const tensors: TensorPlace[] = [];
  for (const [name, entry] of Object.entries(json)) {
    if (name === '__metadata__') continue;
    const place = parseEntry(name, entry, dataStart);
    if (typeof place === 'string') note(`${file}: ${place}`);
    else tensors.push({ ...place, path });
  }
  if (problems.length === 0) checkCoverage(tensors, dataStart, size, (message) => note(`${file} ${message}`));
  return { tensors, problems };
}

function parseEntry(name: string, entry: unknown, dataStart: number): Omit<TensorPlace, 'path'> | string {
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>;
  const format = typeof dtype === 'string' && Object.hasOwn(formatOf, dtype) ? formatOf[dtype] : undefined;
  if (format === undefined)
    return `tensor ${name} has dtype ${JSON.stringify(dtype)}; expected F32, BF16 or F16.`;
  if (!isCountList(shape))
    return `tensor ${name} has shape ${JSON.stringify(shape)}; expected a list of whole numbers.`;
  if (!isCountList(offsets) || offsets.length !== 2 || offsets[0]! > offsets[1]!) {
    return `tensor ${name} has data_offsets ${JSON.stringify(offsets)}; expected [begin, end].`;
  }
  const bytes = offsets[1]! - offsets[0]!;
  const needed = elementCount(shape) * formatBytes[format];
  if (bytes !== needed) return `tensor ${name} takes ${bytes} bytes; its shape and dtype need ${needed}.`;
  return { name, format, shape, offset: dataStart + offsets[0]!, bytes };
}

function isCountList(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}

function checkCoverage(
  tensors: readonly TensorPlace[],
  dataStart: number,
  size: number,
  note: (message: string) => void,
): void {
  const sorted = [...tensors].sort((a, b) => a.offset - b.offset || a.bytes - b.bytes);
  let end = dataStart;
  let last = 'the header';
  for (const tensor of sorted) {
    if (tensor.offset < end) note(`has tensor ${tensor.name} overlapping ${last}.`);
    if (tensor.offset > end) note(`has ${tensor.offset - end} unused bytes before tensor ${tensor.name}.`);
    end = Math.max(end, tensor.offset + tensor.bytes);
    last = tensor.name;
  }
  if (end > size) note(`is truncated: tensor ${last} ends at byte ${end}, the file at ${size}.`);
  if (end < size) note(`has ${size - end} bytes after its last tensor.`);
}
