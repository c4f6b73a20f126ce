import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { AppError } from '../model/errors.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { align, bytesPerElement, encodeGgufHead, type GgufDtype, tensorBytes } from './gguf-format.ts';
import { ggufMetadata, ggufObstacle, llama3FrequencyDivisors } from './gguf-metadata.ts';
import { convertNumbers, ggufDtypeOf } from './gguf-numbers.ts';
import { type GgufPlan, interleavedRow, planGgufTensors } from './gguf-tensors.ts';

/** A tensor of a checkpoint, read piece by piece so that a file larger than memory can be converted. */
export interface GgufSourceTensor {
  /** As safetensors spells it: F32, F16, BF16. */
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly read: (byteOffset: number, byteLength: number) => Uint8Array;
}

export interface GgufRequest {
  readonly facts: ModelFacts;
  readonly tensor: (name: string) => GgufSourceTensor | undefined;
  /** Format of the matrices; vectors are f32 always. */
  readonly dtype: GgufDtype;
  readonly path: string;
  /** Longest sequence that will be run (see ggufObstacle). */
  readonly context: number;
  readonly name?: string;
}

/** Bytes converted at a time. */
const pieceBytes = 4 * 1024 * 1024;

function sourceOf(request: GgufRequest, plan: GgufPlan): GgufSourceTensor {
  const from = plan.from as string;
  const tensor = request.tensor(from);
  if (tensor === undefined) throw new AppError('CHECKPOINT_INVALID', `tensor ${from} is missing`);
  if (tensor.shape.join() !== plan.shape.join()) {
    throw new AppError('CHECKPOINT_INVALID', `tensor ${from} is [${tensor.shape}], expected [${plan.shape}]`);
  }
  return tensor;
}

/** Rows of `head` with the two halves interleaved. */
function interleaveHead(head: Uint8Array, headRows: number): Uint8Array {
  const rowBytes = head.byteLength / headRows;
  const out = new Uint8Array(head.byteLength);
  for (let row = 0; row < headRows; row++) {
    const from = interleavedRow(row, headRows) * rowBytes;
    out.set(head.subarray(from, from + rowBytes), row * rowBytes);
  }
  return out;
}

function writeFully(file: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.byteLength) done += writeSync(file, bytes, done);
}

function writeTensor(file: number, request: GgufRequest, plan: GgufPlan): void {
  if (plan.from === undefined) {
    writeFully(file, new Uint8Array(llama3FrequencyDivisors(request.facts).buffer));
    return;
  }
  const source = sourceOf(request, plan);
  const from = ggufDtypeOf(source.dtype);
  const rowBytes = (plan.shape[1] ?? 1) * bytesPerElement[from];
  const rows = plan.shape[0]!;
  const step = plan.interleave ?? Math.max(1, Math.floor(pieceBytes / rowBytes));
  for (let row = 0; row < rows; row += step) {
    const count = Math.min(step, rows - row);
    const piece = source.read(row * rowBytes, count * rowBytes);
    const ordered = plan.interleave === undefined ? piece : interleaveHead(piece, plan.interleave);
    writeFully(file, convertNumbers(ordered, from, plan.dtype));
  }
}

function writeAll(file: number, request: GgufRequest): void {
  const plans = planGgufTensors(request.facts, request.dtype);
  writeFully(
    file,
    encodeGgufHead(ggufMetadata(request.facts, request.dtype, request.name ?? 'metainfer'), plans),
  );
  for (const plan of plans) {
    writeTensor(file, request, plan);
    const bytes = tensorBytes(plan);
    writeFully(file, new Uint8Array(align(bytes) - bytes));
  }
}

/**
 * Writes the checkpoint as GGUF, so that llama.cpp runs on the very same numbers. The file appears under its name only
 * once it is whole. Throws AppError NOT_COVERED where llama.cpp would compute something else than the model.
 */
export function writeGguf(request: GgufRequest): void {
  const obstacle = ggufObstacle(request.facts, request.context);
  if (obstacle !== undefined) throw new AppError('NOT_COVERED', obstacle);
  const partial = `${request.path}.partial-${process.pid}`;
  const file = openSync(partial, 'wx');
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
