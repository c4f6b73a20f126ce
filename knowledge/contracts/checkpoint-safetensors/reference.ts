import type { ReferenceOps } from '../../../src/model/reference.ts';
import { inputOf, tensor } from '../../../src/model/reference-case.ts';
import { canonicalJson } from '../format-json/reference.ts';

interface Entry {
  readonly name: string;
  readonly dtype: 'F32' | 'BF16' | 'F16';
  readonly count: number;
  readonly begin: number;
  readonly end: number;
}

const elementBytes: Readonly<Record<string, number>> = { F32: 4, BF16: 2, F16: 2 };

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** One entry of the header, or undefined where the contract refuses it. */
function readEntry(name: string, value: unknown): Entry | undefined {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>;
  const size = typeof dtype === 'string' ? elementBytes[dtype] : undefined;
  if (size === undefined || !Array.isArray(shape) || !shape.every(isCount)) return undefined;
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount)) return undefined;
  const count = shape.reduce((product, extent) => product * extent, 1);
  const [begin, end] = offsets as [number, number];
  return end - begin === count * size
    ? { name, dtype: dtype as Entry['dtype'], count, begin, end }
    : undefined;
}

/** The tensors in order of their names and where their data start, or undefined for a file that is refused. */
function readFile(bytes: Uint8Array): { entries: Entry[]; start: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.length < 8 ? 0n : view.getBigUint64(0, true);
  if (length === 0n || length > BigInt(bytes.length - 8)) return undefined;
  const start = 8 + Number(length);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(8, start));
  // Refuses repeated names, which JSON.parse would not.
  if (canonicalJson(text)?.startsWith('{') !== true) return undefined;
  const header = Object.entries(JSON.parse(text) as object).filter(([name]) => name !== '__metadata__');
  const entries = header.map(([name, value]) => readEntry(name, value));
  if (entries.some((entry) => entry === undefined)) return undefined;
  const sound = entries as Entry[];
  let covered = 0;
  for (const { begin, end } of [...sound].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin !== covered) return undefined;
    covered = end;
  }
  if (covered !== bytes.length - start) return undefined;
  return { entries: sound.sort((a, b) => (a.name < b.name ? -1 : 1)), start };
}

/** IEEE 754 by definition: sign, exponent with its bias, fraction; bfloat16 is the upper half of a float32. */
function valueAt(view: DataView, offset: number, dtype: Entry['dtype']): number {
  if (dtype === 'F32') return view.getFloat32(offset, true);
  const bits = view.getUint16(offset, true);
  const [width, bias] = dtype === 'F16' ? [10, 15] : [7, 127];
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> width) & (2 * bias + 1);
  const fraction = (bits & (2 ** width - 1)) / 2 ** width;
  if (exponent === 2 * bias + 1) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (exponent - bias));
}

export const ops: ReferenceOps = {
  open: (unit) => {
    const bytes = Uint8Array.from(inputOf(unit, 'file').data);
    const file = readFile(bytes);
    const view = new DataView(bytes.buffer);
    const values = (file?.entries ?? []).flatMap(({ dtype, count, begin }) =>
      Array.from({ length: count }, (_, index) =>
        valueAt(view, file!.start + begin + index * elementBytes[dtype]!, dtype),
      ),
    );
    return {
      values: tensor([values.length], Float64Array.from(values)),
      error: tensor([1], Int32Array.of(file === undefined ? 1 : 0)),
    };
  },
};
