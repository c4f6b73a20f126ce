/** Weight formats of a safetensors file that this program reads. */
export type FloatFormat = 'f32' | 'bf16' | 'f16';

export const formatBytes: Readonly<Record<FloatFormat, number>> = { f32: 4, bf16: 2, f16: 2 };

const scratch = new DataView(new ArrayBuffer(8));
/** What 16 bits of a format mean once stored in another, by both names; filled on first use. */
const tables = new Map<string, Float64Array>();

/** IEEE 754 half precision, by definition: sign, 5 exponent bits with bias 15, 10 fraction bits. */
function decodeF16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function tableOf(format: 'bf16' | 'f16', storedAs: FloatFormat): Float64Array {
  const key = `${format} ${storedAs}`;
  const known = tables.get(key);
  if (known !== undefined) return known;
  const decode = format === 'f16' ? decodeF16 : fromBf16Bits;
  const table = Float64Array.from({ length: 65_536 }, (_, bits) => roundTo(storedAs, decode(bits)));
  tables.set(key, table);
  return table;
}

/** Bits of the bfloat16 nearest to a float32, ties to even. The value must be exactly a float32; NaN stays NaN. */
export function toBf16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  scratch.setFloat32(0, value);
  const bits = scratch.getUint32(0);
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

export function fromBf16Bits(bits: number): number {
  scratch.setUint32(0, (bits << 16) >>> 0);
  return scratch.getFloat32(0);
}

export function roundToBf16(value: number): number {
  return fromBf16Bits(toBf16Bits(value));
}

export function roundToF16(value: number): number {
  return decodeF16(toF16Bits(value));
}

/** A float32 as a matrix of this format holds it. */
function roundTo(storedAs: FloatFormat, value: number): number {
  if (storedAs === 'f32') return value;
  return storedAs === 'bf16' ? roundToBf16(value) : roundToF16(value);
}

/** Bits of the half-precision number nearest to a float64, ties to even; too large becomes infinity. */
export function toF16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude >= 65_520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude || 2 ** -30)));
  // Rounding may carry into the next exponent, which the addition below then does by itself.
  const steps = roundHalfEven(magnitude / 2 ** (exponent - 10));
  return sign | (exponent === -14 ? steps : ((exponent + 15) << 10) + (steps - 1024));
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/**
 * Little-endian bytes → float64, `count` values into `out` from index 0. `bytes` must start at a multiple of the element size in
 * its buffer. Values that `storedAs` doesn't hold are rounded to it; f32 holds them all.
 */
export function decodeFloats(
  bytes: Uint8Array,
  format: FloatFormat,
  storedAs: FloatFormat,
  out: Float64Array,
): void {
  const count = bytes.byteLength / formatBytes[format];
  if (format === 'bf16' && storedAs !== 'f16') decodeBf16(bytes, count, out);
  else if (format !== 'f32') {
    const table = tableOf(format, storedAs);
    const source = new Uint16Array(bytes.buffer, bytes.byteOffset, count);
    for (let i = 0; i < count; i++) out[i] = table[source[i]!]!;
  } else {
    const source = new Float32Array(bytes.buffer, bytes.byteOffset, count);
    for (let i = 0; i < count; i++) out[i] = roundTo(storedAs, source[i]!);
  }
}

/** In pieces that stay in the cache: a bfloat16 is the upper half of a float32. */
function decodeBf16(bytes: Uint8Array, count: number, out: Float64Array): void {
  const source = new Uint16Array(bytes.buffer, bytes.byteOffset, count);
  const piece = new Uint32Array(2048);
  const values = new Float32Array(piece.buffer);
  for (let start = 0; start < count; start += piece.length) {
    const size = Math.min(piece.length, count - start);
    for (let i = 0; i < size; i++) piece[i] = source[start + i]! << 16;
    for (let i = 0; i < size; i++) out[start + i] = values[i]!;
  }
}

/** float64 → little-endian bytes of the format, rounded to nearest even. */
export function encodeFloats(values: ArrayLike<number>, format: FloatFormat): Uint8Array {
  const count = values.length;
  if (format === 'f32') return new Uint8Array(Float32Array.from(values).buffer);
  const bits = new Uint16Array(count);
  const encode = format === 'bf16' ? (value: number) => toBf16Bits(Math.fround(value)) : toF16Bits;
  for (let i = 0; i < count; i++) bits[i] = encode(values[i]!);
  return new Uint8Array(bits.buffer);
}
