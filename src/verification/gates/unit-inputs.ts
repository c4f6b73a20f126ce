import type { Gate, GateInput } from '../../model/contract.ts';
import type { Tensor } from '../../model/reference.ts';
import type { Random } from '../random.ts';
import type { ShimCase } from '../shim-cases.ts';
import { evaluateDimension } from './unit-models.ts';

export type GateCase = Gate['cases'][number];

/** More elements than this make a case of a large model slow without telling more. */
export const maxElements = 2 ** 25;

/**
 * About as many multiply-adds, in a case of which one is a product of its first input's rows with all the rest, take a
 * core some seconds in host emulation.
 */
export const maxEmulatedWork = 2 ** 24;

/** f32 values as float64, so that reference and engine start from the same numbers. */
function fillFloats(input: GateInput, shape: readonly number[], random: Random): Float64Array {
  const count = shape.reduce((product, size) => product * size, 1);
  const scale = input.scale ?? 1;
  const width = shape.at(-1) ?? 1;
  const data = new Float64Array(count);
  for (let index = 0; index < count; index++) data[index] = Math.fround(drawFloat(input, scale, random));
  if (input.fill === 'spikes') {
    for (let row = 0; row < count; row += width) data[row + random.below(width)] = Math.fround(1e4 * scale);
  }
  if (input.fill === 'values') data.set((input.values ?? []).map(Math.fround));
  return data;
}

function drawFloat(input: GateInput, scale: number, random: Random): number {
  switch (input.fill) {
    case 'normal':
      return scale * random.normal();
    case 'uniform':
      return scale * (2 * random.uniform() - 1);
    case 'around_one':
      return 1 + scale * random.normal();
    case 'spikes':
      return 1e-4 * scale * random.normal();
    default:
      return 0;
  }
}

function drawTensor(input: GateInput, constants: ReadonlyMap<string, number>, random: Random): Tensor {
  if (input.dtype === 'u8') {
    const data =
      input.fill === 'text'
        ? new TextEncoder().encode(input.text ?? '')
        : Uint8Array.from(input.values ?? []);
    return { shape: [data.length], data };
  }
  const shape = input.shape.map((dimension) => evaluateDimension(dimension, constants));
  if (input.dtype === 'f32') return { shape, data: fillFloats(input, shape, random) };
  const count = shape.reduce((product, size) => product * size, 1);
  const below = evaluateDimension(input.below ?? 1, constants);
  const draw = (index: number) =>
    input.fill === 'index' ? random.below(below) : (input.values?.[index] ?? 0);
  return { shape, data: Int32Array.from({ length: count }, (_, index) => draw(index)) };
}

/** Elements of all inputs of a case, before anything is drawn. */
export function countElements(unit: GateCase, constants: ReadonlyMap<string, number>): number {
  return Object.values(unit.inputs).reduce(
    (sum, input) =>
      sum +
      input.shape.reduce<number>(
        (product, dimension) => product * evaluateDimension(dimension, constants),
        1,
      ),
    0,
  );
}

/** Elements of all inputs times the rows of the first, which are what a symbol works on; a vector is one row. */
export function countWork(unit: GateCase, constants: ReadonlyMap<string, number>): number {
  const shape = Object.values(unit.inputs)[0]?.shape ?? [];
  return countElements(unit, constants) * (shape.length < 2 ? 1 : evaluateDimension(shape[0]!, constants));
}

export function drawCase(unit: GateCase, constants: ReadonlyMap<string, number>, random: Random): ShimCase {
  const inputs = Object.fromEntries(
    Object.entries(unit.inputs).map(([name, input]) => [name, drawTensor(input, constants, random)]),
  );
  return { op: unit.op, inputs, params: unit.params ?? {} };
}

/** The same case with one row of each of the named inputs. */
export function pickRow(whole: ShimCase, names: readonly string[], row: number): ShimCase {
  const inputs = Object.fromEntries(
    Object.entries(whole.inputs).map(([name, tensor]) => [
      name,
      names.includes(name) ? sliceRow(tensor, row) : tensor,
    ]),
  );
  return { ...whole, inputs };
}

function sliceRow({ shape, data }: Tensor, row: number): Tensor {
  const width = data.length / (shape[0] ?? 1);
  return { shape: [1, ...shape.slice(1)], data: data.slice(row * width, (row + 1) * width) };
}
