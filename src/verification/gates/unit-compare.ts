import type { Tensor } from '../../model/reference.ts';
import type { Finding } from '../../model/report.ts';
import { makeFinding } from '../gate-context.ts';
import { withoutHostPaths } from '../host-paths.ts';
import { figure } from '../measures.ts';
import type { ShimOutput, ShimResult } from '../shim-cases.ts';

export interface UnitCheck {
  readonly contract: string;
  readonly caseId: string;
  /** Which constants the binary was compiled with, in words. */
  readonly model: string;
  readonly tolerance: { readonly nmse: number; readonly max_abs: number };
  readonly exact: boolean;
  /** What the symbol was called with, in short. */
  readonly inputs: string;
}

function fail(check: UnitCheck, message: string, evidence: Finding['evidence'] = {}): Finding {
  const where = { case: check.caseId, model: check.model, inputs: check.inputs, ...evidence };
  return makeFinding(
    'unit',
    check.contract,
    `${check.contract}#${check.caseId} (${check.model}): ${message}`,
    where,
  );
}

function placeOf(shape: readonly number[], index: number): string {
  const place: number[] = [];
  let rest = index;
  for (const size of [...shape].reverse()) {
    place.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return `[${place.join(', ')}]`;
}

/** Every output that the reference has, against what the symbol gave. */
export function compareOutputs(
  check: UnitCheck,
  wanted: Readonly<Record<string, Tensor>>,
  result: ShimResult,
): Finding[] {
  if (result.failure !== null) {
    const thrown = withoutHostPaths(result.failure, []).slice(0, 500);
    return [fail(check, `it threw: ${thrown}`, { wanted: 'a result', got: `it threw: ${thrown}` })];
  }
  for (const [name, reference] of Object.entries(wanted)) {
    const got = result.outputs[name];
    if (got === undefined) return [fail(check, `output ${name} is missing`, { output: name })];
    if (got.shape.join() !== reference.shape.join()) {
      const shapes = { wanted: `shape [${reference.shape}]`, got: `shape [${got.shape}]` };
      const message = `output ${name} has shape [${got.shape}] instead of [${reference.shape}]`;
      return [fail(check, message, { output: name, ...shapes })];
    }
    const isExact = check.exact || !(got.data instanceof Float32Array);
    const finding = isExact
      ? compareExact(check, name, reference, got)
      : compareFloats(check, name, reference, got);
    if (finding !== undefined) return [finding];
  }
  return [];
}

function compareExact(
  check: UnitCheck,
  name: string,
  { shape, data: wanted }: Tensor,
  { data: got }: ShimOutput,
): Finding | undefined {
  const index = wanted.findIndex(
    (value, at) => !Object.is(got instanceof Float32Array ? Math.fround(value) : value, got[at]),
  );
  if (index < 0) return undefined;
  const evidence = { output: name, index, wanted: figure(wanted[index]!), got: figure(got[index]!) };
  if (got instanceof Uint8Array) {
    const [left, right] = [wanted, got].map((data) =>
      JSON.stringify(
        Buffer.from(data as Uint8Array)
          .toString('utf8')
          .slice(0, 200),
      ),
    );
    const texts = { ...evidence, wanted: left!, got: right! };
    return fail(check, `${name}: expected ${left} got ${right}, differing at byte ${index}`, texts);
  }
  return fail(
    check,
    `${name}: expected ${wanted[index]} got ${got[index]} at ${placeOf(shape, index)}`,
    evidence,
  );
}

function compareFloats(
  check: UnitCheck,
  name: string,
  { shape, data: wanted }: Tensor,
  { data: got }: ShimOutput,
): Finding | undefined {
  let [errors, squares, worst, worstAt] = [0, 0, 0, 0];
  for (let index = 0; index < wanted.length; index++) {
    const difference = Math.abs(wanted[index]! - got[index]!);
    // A value that is infinite or NaN in the reference must be the same here.
    if (Object.is(wanted[index], got[index])) continue;
    if (!Number.isFinite(difference)) {
      const evidence = { output: name, index, wanted: figure(wanted[index]!), got: figure(got[index]!) };
      return fail(
        check,
        `${name}: expected ${wanted[index]} got ${got[index]} at ${placeOf(shape, index)}`,
        evidence,
      );
    }
    errors += difference ** 2;
    squares += wanted[index]! ** 2;
    if (difference > worst) [worst, worstAt] = [difference, index];
  }
  const nmse = errors === 0 ? 0 : errors / squares;
  const { tolerance } = check;
  if (nmse <= tolerance.nmse && worst <= tolerance.max_abs) return undefined;
  const message = `${name}: expected ${wanted[worstAt]} got ${got[worstAt]} at ${placeOf(shape, worstAt)}; NMSE ${nmse.toExponential(2)} (limit ${tolerance.nmse}), max |Δ| ${worst.toExponential(2)} (limit ${tolerance.max_abs})`;
  return fail(check, message, {
    output: name,
    index: worstAt,
    nmse: figure(nmse),
    max_abs: worst,
    wanted: figure(wanted[worstAt]!),
    got: figure(got[worstAt]!),
  });
}

/** A row run alone gives the very bits that it gives among others. */
export function compareRow(
  check: UnitCheck,
  whole: ShimResult,
  alone: ShimResult,
  row: number,
  rows: number,
): Finding[] {
  if (alone.failure !== null) {
    const thrown = withoutHostPaths(alone.failure, []).slice(0, 500);
    return [fail(check, `row ${row} alone threw: ${thrown}`, { row, wanted: 'a result', got: thrown })];
  }
  for (const [name, { shape, data }] of Object.entries(whole.outputs)) {
    const single = alone.outputs[name];
    if (shape[0] !== rows || single?.shape[0] !== 1) continue;
    const width = data.length / rows;
    const part = data.slice(row * width, (row + 1) * width);
    const [left, right] = [part, single.data].map((values) =>
      Buffer.from(values.buffer, values.byteOffset, values.byteLength),
    );
    if (left!.equals(right!)) continue;
    const index = part.findIndex((value, at) => !Object.is(value, single.data[at]));
    const message = `${name}: row ${row} is ${single.data[index]} alone and ${part[index]} among ${rows} rows, at element ${index}`;
    const [among, apart] = [part[index], single.data[index]].map((value) => figure(value!));
    return [fail(check, message, { output: name, row, index, wanted: among!, got: apart! })];
  }
  return [];
}
