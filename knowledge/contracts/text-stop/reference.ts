import type { ReferenceOps } from '../../../src/model/reference.ts';
import { inputOf, tensor } from '../../../src/model/reference-case.ts';

export interface StoppedText {
  readonly text: string;
  readonly stopped: boolean;
}

/** Cuts a whole text at the stop string that is complete first; of several that end together, at the longest. */
export function cutAtStop(text: string, stops: readonly string[]): StoppedText {
  let cut: { readonly start: number; readonly end: number } | undefined;
  for (const stop of stops) {
    const start = text.indexOf(stop);
    if (start < 0) continue;
    const end = start + stop.length;
    if (cut === undefined || end < cut.end || (end === cut.end && start < cut.start)) cut = { start, end };
  }
  return cut === undefined ? { text, stopped: false } : { text: text.slice(0, cut.start), stopped: true };
}

/** What may have been shown after `seen` of a text: all but the longest end that some stop string begins with. */
export function shownSoFar(seen: string, stops: readonly string[]): string {
  const cut = cutAtStop(seen, stops);
  if (cut.stopped) return cut.text;
  const starts = Array.from({ length: seen.length + 1 }, (_, index) => index);
  const held = starts.find((start) => stops.some((stop) => stop.startsWith(seen.slice(start))));
  return seen.slice(0, held ?? seen.length);
}

export const ops: ReferenceOps = {
  /** Inputs: text and, one a line, stops. Param chunk: bytes per chunk. Bytes shown after each chunk, then at the end. */
  stop: (unit) => {
    const bytesOf = (name: string): string =>
      Buffer.from(inputOf(unit, name).data as Uint8Array).toString('latin1');
    const text = bytesOf('text');
    const stops = bytesOf('stops')
      .split('\n')
      .filter((stop) => stop !== '');
    const size = Number(unit.params.chunk);
    const ends = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
      Math.min(text.length, (index + 1) * size),
    );
    const { text: whole, stopped } = cutAtStop(text, stops);
    const shown = [...ends.map((end) => shownSoFar(text.slice(0, end), stops).length), whole.length];
    const bytes = new Uint8Array(Buffer.from(whole, 'latin1'));
    return {
      text: tensor([bytes.length], bytes),
      shown: tensor([shown.length], Int32Array.from(shown)),
      stopped: tensor([1], Int32Array.of(stopped ? 1 : 0)),
    };
  },
};
