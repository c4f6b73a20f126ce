import { AppError } from '../model/errors.ts';
import type { GgufDtype } from './gguf-format.ts';

const scratch = new DataView(new ArrayBuffer(4));

function bitsOf(value: number): number {
  scratch.setFloat32(0, value);
  return scratch.getUint32(0);
}

/** Round to nearest even; NaN stays NaN. */
export function toBf16(value: number): number {
  const bits = bitsOf(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** Round to nearest even, with subnormals; overflow becomes infinity. */
export function toF16(value: number): number {
  const bits = bitsOf(value);
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = Math.abs(Math.fround(value));
  if (Number.isNaN(magnitude)) return sign | 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  // 2^-24 is the step of the subnormals, 2^(e-10) that of the normals with exponent e.
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude)));
  const step = 2 ** (exponent - 10);
  const units = magnitude / step;
  const floor = Math.floor(units);
  const rest = units - floor;
  const rounded = floor + (rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? 1 : 0);
  // A carry out of the mantissa moves on into the exponent by itself.
  return sign | ((exponent + 14) * 1024 + rounded);
}

function fromF16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 31;
  const mantissa = bits & 1023;
  if (exponent === 31) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * mantissa * 2 ** -24 : sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}

function decode(bytes: Uint8Array, dtype: GgufDtype): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const width = dtype === 'f32' ? 4 : 2;
  const values = new Float32Array(bytes.byteLength / width);
  if (dtype === 'bf16') {
    const bits = new Uint32Array(values.buffer);
    for (let i = 0; i < bits.length; i++) bits[i] = view.getUint16(2 * i, true) << 16;
    return values;
  }
  for (let i = 0; i < values.length; i++) {
    values[i] = dtype === 'f32' ? view.getFloat32(4 * i, true) : fromF16(view.getUint16(2 * i, true));
  }
  return values;
}

/** The same numbers in another format; exact from bf16 or f16 to f32, else rounded to nearest even. */
export function convertNumbers(bytes: Uint8Array, from: GgufDtype, to: GgufDtype): Uint8Array {
  if (from === to) return bytes;
  const values = decode(bytes, from);
  if (to === 'f32') return new Uint8Array(values.buffer);
  const packed = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) packed[i] = to === 'bf16' ? toBf16(values[i]!) : toF16(values[i]!);
  return new Uint8Array(packed.buffer);
}

/** dtype names of safetensors files. */
export function ggufDtypeOf(safetensorsDtype: string): GgufDtype {
  const name = safetensorsDtype.toLowerCase();
  if (name === 'f32' || name === 'f16' || name === 'bf16') return name;
  throw new AppError(
    'CHECKPOINT_INVALID',
    `A GGUF file needs F32, F16 or BF16 tensors; found ${safetensorsDtype}.`,
  );
}
