/** Frames of the harness protocol, version 1: 16-byte header, little-endian, then the payload. */
export const opcodes = {
  hello: 1,
  load: 2,
  logits: 3,
  trace: 4,
  batch: 5,
  prefill: 6,
  decode: 7,
  poison: 8,
  encode: 9,
  decodeText: 10,
  generate: 11,
  batchDecode: 12,
  quit: 13,
} as const;
export type OperationName = keyof typeof opcodes;

export const failureOpcode = 0xffff;
export const protocolVersion = 1;
const magic = 0x3148494d;
const headerBytes = 16;
export const maxPayloadBytes = 2 ** 30;

export interface Frame {
  readonly opcode: number;
  readonly sequence: number;
  readonly payload: Buffer;
  /** performance.now() when its last byte was read. */
  readonly receivedAt: number;
}

export function encodeFrame(opcode: number, sequence: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(magic, 0);
  header.writeUInt16LE(protocolVersion, 4);
  header.writeUInt16LE(opcode, 6);
  header.writeUInt32LE(sequence, 8);
  header.writeUInt32LE(payload.length, 12);
  return Buffer.concat([header, payload]);
}

/** Cuts a byte stream into frames; a header that breaks the rules is reported once and ends the stream. */
export class FrameReader {
  private chunks: Buffer[] = [];
  private available = 0;
  private fault: string | undefined;

  /** Returns the complete frames that `chunk` finished, and the fault where the stream broke the rules. */
  push(chunk: Buffer, now: number): { frames: Frame[]; fault: string | undefined } {
    const frames: Frame[] = [];
    if (this.fault !== undefined) return { frames, fault: this.fault };
    this.chunks.push(chunk);
    this.available += chunk.length;
    for (;;) {
      const frame = this.take(now);
      if (frame === undefined) return { frames, fault: this.fault };
      frames.push(frame);
    }
  }

  private take(now: number): Frame | undefined {
    if (this.available < headerBytes) return undefined;
    const header = this.peek(headerBytes);
    if (header.readUInt32LE(0) !== magic) return this.fail('a reply does not begin with the magic number');
    const version = header.readUInt16LE(4);
    if (version !== protocolVersion) return this.fail(`a reply has protocol version ${version}`);
    const length = header.readUInt32LE(12);
    if (length > maxPayloadBytes) return this.fail(`a reply announces ${length} bytes, more than 1 GiB`);
    if (this.available < headerBytes + length) return undefined;
    const whole = this.peek(headerBytes + length);
    this.available -= whole.length;
    const rest = (this.chunks[0] as Buffer).subarray(whole.length);
    this.chunks = rest.length > 0 ? [rest] : [];
    return {
      opcode: header.readUInt16LE(6),
      sequence: header.readUInt32LE(8),
      payload: whole.subarray(headerBytes),
      receivedAt: now,
    };
  }

  /** The first `length` bytes, joined into the first chunk only when they span several. */
  private peek(length: number): Buffer {
    const first = this.chunks[0] as Buffer;
    if (first.length >= length) return first.subarray(0, length);
    const joined = Buffer.concat(this.chunks);
    this.chunks = [joined];
    return joined.subarray(0, length);
  }

  private fail(fault: string): undefined {
    this.fault = fault;
    return undefined;
  }
}

export function encodeU32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, index * 4);
  return bytes;
}

/** Copies, so that the result is aligned and outlives the frame. */
export function decodeF32(bytes: Buffer): Float32Array {
  const copy = new Uint8Array(bytes.length - (bytes.length % 4));
  copy.set(bytes.subarray(0, copy.length));
  return new Float32Array(copy.buffer);
}

export function decodeU32(bytes: Buffer): Uint32Array {
  const copy = new Uint8Array(bytes.length - (bytes.length % 4));
  copy.set(bytes.subarray(0, copy.length));
  return new Uint32Array(copy.buffer);
}
