import type { Tensor } from '../model/reference.ts';

/** One call of a shim: what reference.ts and run_case both get. */
export interface ShimCase {
  readonly op: string;
  readonly inputs: Readonly<Record<string, Tensor>>;
  readonly params: Readonly<Record<string, number | string>>;
}

export interface ShimResult {
  /** What the symbol threw; null where it returned. */
  readonly failure: string | null;
  readonly outputs: Readonly<Record<string, ShimOutput>>;
}

export interface ShimOutput {
  readonly shape: readonly number[];
  readonly data: Float32Array | Int32Array | Uint8Array;
}

/*
 * Case file, little-endian, cases one after the other. text = u32 bytes, UTF-8.
 *   case   = text op, u32 n, n × (text name, tensor), u32 n, n × (text name, f64), u32 n, n × (text name, text value)
 *   tensor = u32 kind ('f', 'i' or 'u'), u32 rank, rank × u32, elements (f32, i32 or u8)
 * Result file:
 *   result = text ("!" + message where the case threw), u32 n, n × (text name, tensor)
 */

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([u32(bytes.length), bytes]);
}

function encodeTensor({ shape, data }: Tensor): Buffer {
  const kind = data instanceof Float64Array ? 'f' : data instanceof Int32Array ? 'i' : 'u';
  const elements = data instanceof Float64Array ? Float32Array.from(data) : data;
  const bytes = Buffer.from(elements.buffer, elements.byteOffset, elements.byteLength);
  return Buffer.concat([u32(kind.charCodeAt(0)), u32(shape.length), ...shape.map(u32), bytes]);
}

function f64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

export function encodeCase(unit: ShimCase): Buffer {
  const parts = [text(unit.op)];
  const inputs = Object.entries(unit.inputs);
  parts.push(u32(inputs.length), ...inputs.flatMap(([name, tensor]) => [text(name), encodeTensor(tensor)]));
  const params = Object.entries(unit.params);
  const numbers = params.filter(([, value]) => typeof value === 'number');
  const strings = params.filter(([, value]) => typeof value === 'string');
  parts.push(u32(numbers.length), ...numbers.flatMap(([name, value]) => [text(name), f64(value as number)]));
  parts.push(u32(strings.length), ...strings.flatMap(([name, value]) => [text(name), text(value as string)]));
  return Buffer.concat(parts);
}

class ResultReader {
  private at = 0;
  private readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get atEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  u32(): number {
    this.at += 4;
    return this.bytes.readUInt32LE(this.at - 4);
  }

  take(length: number): Buffer {
    if (this.at + length > this.bytes.length) throw new RangeError('result file ends early');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  text(): string {
    return this.take(this.u32()).toString('utf8');
  }

  tensor(): ShimOutput {
    const kind = String.fromCharCode(this.u32() & 0xff);
    const rank = this.u32();
    if (rank > maxRank) throw new RangeError('a tensor of too many dimensions');
    const shape = Array.from({ length: rank }, () => this.u32());
    const count = shape.reduce((product, size) => product * size, 1);
    const copy = Uint8Array.from(this.take(count * (kind === 'u' ? 1 : 4)));
    if (kind === 'f') return { shape, data: new Float32Array(copy.buffer) };
    return { shape, data: kind === 'i' ? new Int32Array(copy.buffer) : copy };
  }
}

// No contract has tensors or outcomes beyond these; code under test may write anything.
const maxRank = 8;
const maxOutputs = 64;

/** As many results as the file holds whole, at most `most`: a crash leaves the rest unwritten. */
export function decodeResults(bytes: Buffer, most: number): ShimResult[] {
  const reader = new ResultReader(bytes);
  const results: ShimResult[] = [];
  try {
    while (!reader.atEnd && results.length < most) {
      const failure = reader.text();
      const outputs: Record<string, ShimOutput> = {};
      const count = reader.u32();
      if (count > maxOutputs) throw new RangeError('too many outputs');
      for (let left = count; left > 0; left--) {
        const name = reader.text();
        outputs[name] = reader.tensor();
      }
      results.push({ failure: failure === '' ? null : failure.slice(1), outputs });
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return results;
}
