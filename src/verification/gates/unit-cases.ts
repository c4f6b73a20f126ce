import type { GateContext } from '../gate-context.ts';
import { Random } from '../random.ts';
import type { ShimCase } from '../shim-cases.ts';
import type { UnitCheck } from './unit-compare.ts';
import {
  countElements,
  countWork,
  drawCase,
  type GateCase,
  maxElements,
  maxEmulatedWork,
  pickRow,
} from './unit-inputs.ts';
import type { UnitJob } from './unit-jobs.ts';
import { constantsOf } from './unit-models.ts';

const maxRowsAlone = 8;

export interface DrawnCase {
  readonly check: UnitCheck;
  readonly whole: ShimCase;
  /** Rows that are also run alone, and the names of the inputs to split. */
  readonly alone: readonly { readonly row: number; readonly unit: ShimCase }[];
  readonly rows: number;
}

/** The cases of gate.yaml that are meant for the model, and of those the ones that are not too large. */
function chooseCases({ contract, model, target }: UnitJob): { fitting: GateCase[]; tooLarge: number } {
  const constants = constantsOf(model.config);
  const meant = contract.gate!.cases.filter(
    ({ when }) => when === 'always' || (when === 'own') === model.isOwn,
  );
  const fitting = meant.filter(
    (unit) =>
      countElements(unit, constants) <= maxElements &&
      (target !== 'emulation' || countWork(unit, constants) <= maxEmulatedWork),
  );
  return { fitting, tooLarge: meant.length - fitting.length };
}

/** How many cases are meant for the model and left out. */
export function countTooLarge(job: UnitJob): number {
  return chooseCases(job).tooLarge;
}

/** The cases of gate.yaml that fit the model, with inputs drawn from the run's seed. */
export function drawJob(context: Pick<GateContext, 'runSeed'>, job: UnitJob): DrawnCase[] {
  const { contract, model } = job;
  const constants = constantsOf(model.config);
  const gate = contract.gate!;
  return chooseCases(job).fitting.map((unit) => {
    const random = new Random(context.runSeed, `unit/${contract.id}/${unit.id}/${model.name}`);
    const whole = drawCase(unit, constants, random);
    const names = unit.rows_alone ?? [];
    const rows = names.length === 0 ? 0 : (whole.inputs[names[0]!]?.shape[0] ?? 0);
    const step = Math.max(1, Math.floor(rows / maxRowsAlone));
    const alone = [];
    for (let row = 0; row < rows; row += step) alone.push({ row, unit: pickRow(whole, names, row) });
    const check = {
      contract: contract.id,
      caseId: unit.id,
      model: model.name,
      tolerance: unit.tolerance ?? gate.tolerance,
      exact: unit.exact ?? false,
      inputs: describeInputs(whole),
    };
    return { check, whole, alone, rows };
  });
}

/** What the symbol was called with, short: shapes of tensors, texts and parameters as they are. */
function describeInputs({ op, inputs, params }: ShimCase): string {
  const tensors = Object.entries(inputs).map(([name, { shape, data }]) => {
    if (data instanceof Uint8Array) return `${name} = ${showBytes(data)}`;
    if (data.length <= 8) return `${name} = [${Array.from(data).join(', ')}]`;
    return `${name} ${data instanceof Float64Array ? 'f32' : 'i32'}[${shape.join(', ')}]`;
  });
  const numbers = Object.entries(params).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return `${op}: ${[...tensors, ...numbers].join('; ')}`.slice(0, 600);
}

function showBytes(data: Uint8Array): string {
  return JSON.stringify(Buffer.from(data.subarray(0, 200)).toString('utf8'));
}

/** The id of the case that the n-th call belongs to. */
export function caseAt(drawn: readonly DrawnCase[], index: number): DrawnCase | undefined {
  return drawn.flatMap((entry) => [entry, ...entry.alone.map(() => entry)])[index];
}
