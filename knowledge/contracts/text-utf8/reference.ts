import type { ReferenceOps } from '../../../src/model/reference.ts';
import { inputOf, tensor } from '../../../src/model/reference-case.ts';

/** The lossy reading of bytes: one U+FFFD for each maximal subpart that begins no valid sequence. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

export const ops: ReferenceOps = {
  /** Every code point of the text. */
  code_points: (unit) => {
    const text = decodeUtf8(Uint8Array.from(inputOf(unit, 'text').data));
    const points = [...text].map((character) => character.codePointAt(0)!);
    return { points: tensor([points.length], Int32Array.from(points)) };
  },
  /** Byte by byte through the pending buffer: the bytes given out after each byte, and all of them. */
  stream: (unit) => {
    const bytes = Uint8Array.from(inputOf(unit, 'text').data);
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    let text = '';
    const taken = Array.from(bytes, (byte) => {
      text += decoder.decode(Uint8Array.of(byte), { stream: true });
      return Buffer.byteLength(text);
    });
    text += decoder.decode();
    const out = new TextEncoder().encode(text);
    return {
      taken: tensor([taken.length], Int32Array.from(taken)),
      text: tensor([out.length], out),
    };
  },
};
