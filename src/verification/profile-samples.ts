/** Where one object's code lies in a linked program. */
export interface CodeRange {
  readonly from: number;
  readonly to: number;
  /** As the linker was given it. */
  readonly object: string;
}

const placement = /^ \.text\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$/;

/** From the map that GNU ld writes with -Map: a long section name stands on a line of its own. */
export function readLinkMap(text: string): CodeRange[] {
  const joined = text.replace(/^( \.text\S*)\n\s+0x/gm, '$1 0x');
  return joined.split('\n').flatMap((line) => {
    const match = placement.exec(line);
    if (match === null) return [];
    const from = Number.parseInt(match[1]!, 16);
    const size = Number.parseInt(match[2]!, 16);
    return size === 0 ? [] : [{ from, to: from + size, object: match[3]! }];
  });
}

/** Seconds that a profiled program spent at code addresses. */
export interface ProfileSamples {
  readonly seconds: readonly { readonly address: number; readonly seconds: number }[];
}

const headerBytes = 20;
const recordBytes = 1 + 8 + 8 + 4 + 4 + 16;
const maxBins = 2 ** 24;

/**
 * The histogram of a gmon.out (glibc, 64 bit, little-endian). Written by the program under test, so whatever is not of
 * this form counts as no samples.
 */
export function readSamples(bytes: Buffer): ProfileSamples {
  const none = { seconds: [] };
  if (bytes.length < headerBytes + recordBytes || bytes.toString('latin1', 0, 4) !== 'gmon') return none;
  const at = headerBytes + 1;
  if (bytes[headerBytes] !== 0) return none;
  const low = Number(bytes.readBigUInt64LE(at));
  const high = Number(bytes.readBigUInt64LE(at + 8));
  const bins = bytes.readUInt32LE(at + 16);
  const rate = bytes.readUInt32LE(at + 20);
  const counts = headerBytes + recordBytes;
  if (bins === 0 || bins > maxBins || rate === 0 || high <= low || bytes.length < counts + 2 * bins)
    return none;
  const seconds = [];
  for (let bin = 0; bin < bins; bin++) {
    const count = bytes.readUInt16LE(counts + 2 * bin);
    if (count > 0)
      seconds.push({ address: low + ((high - low) * (bin + 0.5)) / bins, seconds: count / rate });
  }
  return { seconds };
}

/** Seconds by object; what lies in none of the ranges is left out. */
export function secondsByObject(
  { seconds }: ProfileSamples,
  ranges: readonly CodeRange[],
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const sample of seconds) {
    const range = ranges.find(({ from, to }) => sample.address >= from && sample.address < to);
    if (range !== undefined) sums.set(range.object, (sums.get(range.object) ?? 0) + sample.seconds);
  }
  return sums;
}
