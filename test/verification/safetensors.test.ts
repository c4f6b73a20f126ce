import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { AppError } from '../../src/model/errors.ts';
import { nearestBf16, nearestF16 } from '../../src/model/reference-case.ts';
import {
  decodeFloats,
  encodeFloats,
  fromBf16Bits,
  roundToBf16,
  roundToF16,
  toBf16Bits,
} from '../../src/verification/float-formats.ts';
import { openCheckpoint } from '../../src/verification/safetensors.ts';
import {
  encodeHeader,
  type TensorSource,
  writeCheckpoint,
} from '../../src/verification/safetensors-writer.ts';
import { normalPieces, normalQuantiles, seedRandom } from '../../src/verification/seeded-normals.ts';
import { writeSyntheticCheckpoint } from '../../src/verification/synthetic-weights.ts';
import { recipes } from '../fixtures/random-checkpoint.ts';

const scratch = mkdtempSync(join(tmpdir(), 'metainfer-safetensors-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function source(
  name: string,
  format: TensorSource['format'],
  shape: number[],
  values: number[],
): TensorSource {
  const bytes = encodeFloats(values, format);
  // In two pieces, to see that pieces join.
  return { name, format, shape, pieces: () => [bytes.subarray(0, 4), bytes.subarray(4)] };
}

describe('number formats', () => {
  test('bf16 rounding goes to the nearest, ties to even, and agrees with rounding by arithmetic', () => {
    expect([1.00390625, 1.01171875, -1.00390625, 65_280, 0, 1e-30].map(roundToBf16)).toEqual([
      1,
      1.015625,
      -1,
      65_280,
      0,
      roundToBf16(1e-30),
    ]);
    const random = seedRandom(3, 'bf16');
    const view = new DataView(new ArrayBuffer(4));
    for (let count = 0; count < 20_000; count++) {
      view.setUint32(0, random());
      const value = view.getFloat32(0);
      if (Number.isNaN(value)) continue;
      expect(nearestBf16(value)).toBe(roundToBf16(value));
      expect(nearestF16(value)).toBe(roundToF16(value));
    }
  });

  test('every half-precision number stays itself, and what lies between two goes to the nearer or the even one', () => {
    const bits = Uint16Array.from({ length: 0x7c00 }, (_, index) => index);
    const values = new Float64Array(bits.length);
    decodeFloats(new Uint8Array(bits.buffer), 'f16', 'f32', values);
    const all = [...values, 65_536];
    for (const round of [roundToF16, nearestF16]) {
      const wrong = [...bits.keys()].filter((index) => {
        const [here, next] = [all[index]!, all[index + 1]!];
        const [above, even] = [index === 0x7bff ? Number.POSITIVE_INFINITY : next, index % 2 === 0];
        const middle = (here + next) / 2;
        const wanted = [here, here, even ? here : above, above];
        const given = [here, middle - (next - here) / 4, middle, middle + (next - here) / 4];
        return [1, -1].some((sign) =>
          given.some((value, at) => !Object.is(round(sign * value), sign * wanted[at]!)),
        );
      });
      expect(wrong).toEqual([]);
    }
  });

  test('a format is read as another one stores it, from each of the three to each', () => {
    const given = [1.00390625, 1 + 2 ** -11, 70_000, -1e-6, 3.140625].map(Math.fround);
    const rounds = { f32: (value: number) => value, bf16: nearestBf16, f16: nearestF16 };
    for (const [from, held] of Object.entries(rounds))
      for (const [to, round] of Object.entries(rounds)) {
        const values = new Float64Array(given.length);
        const format = from as keyof typeof rounds;
        decodeFloats(encodeFloats(given, format), format, to as keyof typeof rounds, values);
        expect([...values], `${from} as ${to}`).toEqual(given.map((value) => round(held(value))));
      }
  });

  test('every finite bf16 and half-precision number survives a round trip', () => {
    for (const format of ['bf16', 'f16'] as const) {
      const bits = Uint16Array.from({ length: 65_536 }, (_, index) => index);
      const values = new Float64Array(65_536);
      decodeFloats(new Uint8Array(bits.buffer), format, 'f32', values);
      const finite = [...values.keys()].filter((index) => Number.isFinite(values[index]));
      const back = encodeFloats(
        finite.map((index) => values[index]!),
        format,
      );
      expect([...new Uint16Array(back.buffer)]).toEqual(finite);
    }
  });

  test('half precision rounds to nearest even, down to subnormals and up to infinity', () => {
    const values = new Float64Array(6);
    const bytes = encodeFloats(
      [1 + 2 ** -11, 1 + 3 * 2 ** -11, 2 ** -25, 3 * 2 ** -25, 65_519.9, 65_520],
      'f16',
    );
    decodeFloats(bytes, 'f16', 'f32', values);
    expect([...values]).toEqual([1, 1 + 2 ** -9, 0, 2 ** -23, 65_504, Number.POSITIVE_INFINITY]);
  });

  test('NaN stays NaN', () => {
    expect(fromBf16Bits(toBf16Bits(Number.NaN))).toBeNaN();
  });
});

describe('files', () => {
  const tensors = [
    source('b', 'bf16', [2, 3], [1, -2, 0.5, 3, 4, -0.25]),
    source('a', 'f32', [5], [0.1, 0.2, 0.3, 0.4, 0.5]),
    source('c', 'f16', [3, 1], [1.5, -7, 1024]),
  ];

  test.each([1, 2, 3, 9])('what is written to %i files is read back, any part of it', async (shards) => {
    const folder = join(scratch, `parts-${shards}`);
    await writeCheckpoint(folder, { config: {}, tensors, shards });
    const files = readdirSync(folder).filter((name) => name.endsWith('.safetensors'));
    expect(files).toHaveLength(Math.min(3, shards));
    const checkpoint = openCheckpoint(folder);
    expect([...checkpoint.read('b', 2, 3, 'f32')]).toEqual([0.5, 3, 4]);
    expect([...checkpoint.read('a', 0, 2, 'f32')]).toEqual([0.1, 0.2].map(Math.fround));
    expect([...checkpoint.read('a', 0, 2, 'bf16')]).toEqual(
      [0.1, 0.2].map((value) => roundToBf16(Math.fround(value))),
    );
    expect([...checkpoint.read('c', 0, 3, 'f32')]).toEqual([1.5, -7, 1024]);
    expect(() => checkpoint.read('c', 2, 2, 'f32')).toThrow('outside tensor c');
    expect(() => checkpoint.read('d', 0, 1, 'f32')).toThrow('tensor d is not in');
    checkpoint.close();
  });

  test('the data begins at a multiple of eight bytes', () => {
    for (const name of ['x', 'xy', 'xyz', '\u00e9\u6f22', 'abcdefg']) {
      expect(encodeHeader([{ name, format: 'f32', shape: [1] }]).length % 8).toBe(0);
    }
  });

  test('a header that is broken makes opening fail with the code CHECKPOINT_INVALID', () => {
    writeFileSync(join(scratch, 'model.safetensors'), 'nonsense');
    expect(() => openCheckpoint(scratch)).toThrow(AppError);
    expect(() => openCheckpoint(scratch)).toThrow(/header length/);
  });
});

describe('synthetic weights', () => {
  test('normal values have mean 0, deviation 1 and no repeats in sequence', () => {
    const quantiles = normalQuantiles();
    expect(quantiles[65_535]).toBeCloseTo(4.3248, 3);
    expect(quantiles[Math.floor(0.975 * 65_536)]).toBeCloseTo(1.96, 3);
    const values = [...normalPieces(seedRandom(1, 'x'), 200_001, 0.5, 2, 'f32')].flatMap((piece) => [
      ...new Float32Array(piece.buffer),
    ]);
    expect(values).toHaveLength(200_001);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
    const next =
      values.slice(1).reduce((sum, value, index) => sum + (value - mean) * (values[index]! - mean), 0) /
      values.length;
    expect(mean).toBeCloseTo(0.5, 1);
    expect(deviation).toBeCloseTo(2, 1);
    expect(Math.abs(next)).toBeLessThan(0.05);
  });

  test('progress counts to the end, and config.json says the format', async () => {
    const folder = join(scratch, 'progress');
    const seen: number[] = [];
    let total = 0;
    const onProgress = (done: number, all: number) => {
      seen.push(done);
      total = all;
    };
    await writeSyntheticCheckpoint(folder, recipes['llama-tied'].config, {
      seed: 1,
      dtype: 'f16',
      onProgress,
    });
    expect(seen.at(-1)).toBe(total);
    expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))).toMatchObject({
      torch_dtype: 'float16',
    });
  });

  test('an abort and a refusal leave nothing behind; an existing folder is never touched', async () => {
    const folder = join(scratch, 'aborted');
    const { config } = recipes['llama-tied'];
    const stop = new AbortController();
    const write = writeSyntheticCheckpoint(folder, config, {
      seed: 1,
      dtype: 'f32',
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(write).rejects.toThrow();
    const options = { seed: 1, dtype: 'f32' } as const;
    await expect(
      writeSyntheticCheckpoint(folder, { ...config, mlp_bias: true }, options),
    ).rejects.toMatchObject({ code: 'MODEL_UNSUPPORTED' });
    expect(readdirSync(scratch).filter((name) => name.startsWith('aborted'))).toEqual([]);
    await expect(writeSyntheticCheckpoint(scratch, config, options)).rejects.toMatchObject({
      code: 'OUTPUT_EXISTS',
    });
  });
});
