import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { AppError } from '../model/errors.ts';
import { elementCount } from '../model/expected-tensors.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { decodeFloats, encodeFloats, type FloatFormat, formatBytes } from './float-formats.ts';
import { align, encodeGgufHead, tensorBytes } from './gguf-format.ts';
import { ggufMetadata, ggufObstacle, llama3FrequencyDivisors } from './gguf-metadata.ts';
import { type GgufPlan, interleavedRow, planGgufTensors } from './gguf-tensors.ts';
import type { Checkpoint } from './safetensors.ts';

export interface GgufRequest {
  readonly facts: ModelFacts;
  readonly checkpoint: Checkpoint;
  /** Format of the matrices; vectors are f32 always. */
  readonly format: FloatFormat;
  readonly path: string;
  /** Longest sequence that will be run (see ggufObstacle). */
  readonly context: number;
}

/** Bytes converted at a time. */
const pieceBytes = 4 * 1024 * 1024;

function placeOf(request: GgufRequest, plan: GgufPlan, from: string) {
  const place = request.checkpoint.tensors.get(from);
  if (place === undefined) throw new AppError('CHECKPOINT_INVALID', `tensor ${from} is missing`);
  if (place.shape.join() !== plan.shape.join()) {
    throw new AppError('CHECKPOINT_INVALID', `tensor ${from} is [${place.shape}], expected [${plan.shape}]`);
  }
  return place;
}

/** Rows of one head with its two halves interleaved. */
function interleaveHead(head: Uint8Array, headRows: number): Uint8Array {
  const rowBytes = head.byteLength / headRows;
  const out = new Uint8Array(head.byteLength);
  for (let row = 0; row < headRows; row++) {
    const from = interleavedRow(row, headRows) * rowBytes;
    out.set(head.subarray(from, from + rowBytes), row * rowBytes);
  }
  return out;
}

function convert(bytes: Uint8Array, from: FloatFormat, to: FloatFormat): Uint8Array {
  if (from === to) return bytes;
  const values = new Float64Array(bytes.byteLength / formatBytes[from]);
  decodeFloats(bytes, from, 'f32', values);
  return encodeFloats(values, to);
}

function writeFully(file: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.byteLength) done += writeSync(file, bytes, done);
}

function writeTensor(file: number, request: GgufRequest, plan: GgufPlan): void {
  if (plan.stacked !== undefined) {
    const { stacked, ...own } = plan;
    for (const from of stacked) writeTensor(file, request, { ...own, from, shape: plan.shape.slice(1) });
    return;
  }
  if (plan.from === undefined) {
    writeFully(file, new Uint8Array(llama3FrequencyDivisors(request.facts).buffer));
    return;
  }
  const { format } = placeOf(request, plan, plan.from);
  const rows = plan.shape[0]!;
  const rowBytes = elementCount(plan.shape.slice(1)) * formatBytes[format];
  const step = plan.interleave ?? Math.max(1, Math.floor(pieceBytes / rowBytes));
  for (let row = 0; row < rows; row += step) {
    const count = Math.min(step, rows - row);
    const piece = request.checkpoint.readBytes(plan.from, row * rowBytes, count * rowBytes);
    const ordered = plan.interleave === undefined ? piece : interleaveHead(piece, plan.interleave);
    writeFully(file, convert(ordered, format, plan.dtype));
  }
}

function writeAll(file: number, request: GgufRequest): void {
  const plans = planGgufTensors(request.facts, request.format);
  writeFully(file, encodeGgufHead(ggufMetadata(request.facts, request.format), plans));
  for (const plan of plans) {
    writeTensor(file, request, plan);
    const bytes = tensorBytes(plan);
    writeFully(file, new Uint8Array(align(bytes) - bytes));
  }
}

/**
 * Writes a checkpoint as GGUF, so that llama.cpp runs on the very same numbers. The file appears under its name only
 * once it is whole. Throws NOT_COVERED where llama.cpp would compute something else than the model.
 */
export function writeGguf(request: GgufRequest): void {
  const obstacle = ggufObstacle(request.facts, request.context);
  if (obstacle !== undefined) throw new AppError('NOT_COVERED', obstacle);
  const partial = `${request.path}.partial-${process.pid}`;
  const file = openSync(partial, 'w');
  try {
    writeAll(file, request);
    renameSync(partial, request.path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}
