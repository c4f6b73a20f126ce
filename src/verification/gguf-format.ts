import { elementCount } from '../model/expected-tensors.ts';
import { type FloatFormat, formatBytes } from './float-formats.ts';

/**
 * GGUF version 3, as ggml's docs/gguf.md describes it: header, key/value metadata, tensor directory, then tensor data,
 * each tensor aligned to 32 bytes. Everything is little-endian. Written here from the description; nothing is copied.
 */
export const ggufAlignment = 32;

/** ggml_type numbers (ggml.h of llama.cpp v0.5.0). */
const ggmlTypes: Readonly<Record<FloatFormat, number>> = { f32: 0, f16: 1, bf16: 30 };

export type GgufValue =
  | { readonly type: 'u32'; readonly value: number }
  | { readonly type: 'f32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string };

/** One entry of the tensor directory. `shape` is row-major as in safetensors; GGUF stores it innermost first. */
export interface GgufTensor {
  readonly name: string;
  readonly dtype: FloatFormat;
  readonly shape: readonly number[];
}

const valueTypeNumbers = { u32: 4, f32: 6, bool: 7, string: 8 } as const;

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([u64(bytes.length), bytes]);
}

function encodeValue(entry: GgufValue): Buffer {
  const type = u32(valueTypeNumbers[entry.type]);
  if (entry.type === 'string') return Buffer.concat([type, text(entry.value)]);
  if (entry.type === 'bool') return Buffer.concat([type, Buffer.from([entry.value ? 1 : 0])]);
  if (entry.type === 'u32') return Buffer.concat([type, u32(entry.value)]);
  const float = Buffer.alloc(4);
  float.writeFloatLE(entry.value);
  return Buffer.concat([type, float]);
}

export function align(offset: number): number {
  return Math.ceil(offset / ggufAlignment) * ggufAlignment;
}

export function tensorBytes(tensor: GgufTensor): number {
  return elementCount(tensor.shape) * formatBytes[tensor.dtype];
}

/** Everything before the tensor data, padded so that the data starts aligned. */
export function encodeGgufHead(
  metadata: readonly (readonly [string, GgufValue])[],
  tensors: readonly GgufTensor[],
): Buffer {
  const parts = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(metadata.length)];
  for (const [key, value] of metadata) parts.push(text(key), encodeValue(value));
  let offset = 0;
  for (const tensor of tensors) {
    parts.push(text(tensor.name), u32(tensor.shape.length));
    for (const dimension of [...tensor.shape].reverse()) parts.push(u64(dimension));
    parts.push(u32(ggmlTypes[tensor.dtype]), u64(offset));
    offset = align(offset + tensorBytes(tensor));
  }
  const head = Buffer.concat(parts);
  return Buffer.concat([head, Buffer.alloc(align(head.length) - head.length)]);
}
