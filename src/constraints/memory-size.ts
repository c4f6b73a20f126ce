const units: Readonly<Record<string, bigint>> = {
  b: 1n,
  kb: 10n ** 3n,
  mb: 10n ** 6n,
  gb: 10n ** 9n,
  tb: 10n ** 12n,
  kib: 2n ** 10n,
  mib: 2n ** 20n,
  gib: 2n ** 30n,
  tib: 2n ** 40n,
};

export const sizeForms = 'a size with its unit, such as 8GiB (8 × 2^30 bytes) or 8 GB (8 × 10^9 bytes)';
/** The same as a pattern, for editors that read the JSON Schema. */
export const sizePattern = /^\s*\d+(?:\.\d+)?\s*(?:[kKmMgGtT][iI]?)?[bB]\s*$/;

/** One PiB: larger than any machine here, small enough that a sum of sizes stays exact. */
const maxSize = 2n ** 50n;

export type SizeReading = { readonly bytes: number } | { readonly refused: string };

/** Bytes of `8GiB`, `8 GB`, `1.5 GiB`. Exact or refused, never rounded. */
export function readSize(text: string): SizeReading {
  const parts = /^\s*(\d{1,18})(?:\.(\d{1,18}))?\s*([A-Za-z]*)\s*$/.exec(text);
  if (parts === null) return { refused: `expected ${sizeForms}` };
  const [, whole = '', fraction = '', written = ''] = parts;
  if (written === '') return { refused: `a unit is missing; expected ${sizeForms}` };
  const unit = units[written.toLowerCase()];
  if (unit === undefined) {
    const short = /^[kmgt]i?$/i.test(written)
      ? `; write ${written.replace(/i$/i, '')}iB (powers of 1024) or ${written.replace(/i$/i, '')}B (powers of 1000)`
      : '';
    return { refused: `the unit "${written.slice(0, 20)}" is not known${short}; expected ${sizeForms}` };
  }
  const scaled = BigInt(`${whole}${fraction}`) * unit;
  const divisor = 10n ** BigInt(fraction.length);
  if (scaled % divisor !== 0n)
    return { refused: 'this is no whole number of bytes; expected fewer digits after the point' };
  const bytes = scaled / divisor;
  if (bytes < 1n || bytes > maxSize)
    return { refused: 'out of range; expected more than 0 and at most 1024 TiB' };
  return { bytes: Number(bytes) };
}
