import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { renderConfigHeader } from '../../generation/config-header.ts';
import type { ReferenceOps, Tensor } from '../../model/reference.ts';
import type { EngineUnderTest } from '../../verification/gate-context.ts';
import { type DrawnCase, drawJob } from '../../verification/gates/unit-cases.ts';
import {
  closureOf,
  planJobs,
  shimFile,
  type UnitContext,
  type UnitJob,
} from '../../verification/gates/unit-jobs.ts';
import { encodeCase } from '../../verification/shim-cases.ts';
import type { BundleUnit } from './bundle-manifest.ts';
import type { ProgramList } from './bundle-programs.ts';

/**
 * Every unit gate of the engine: sources with their shims, cases as the shim reads them, and what reference.ts makes of
 * each. A contract whose reference has no such op is a fault of the knowledge, which its own checks find.
 */
export async function writeUnits(
  bundle: string,
  programs: ProgramList,
  engine: EngineUnderTest,
  { seed, contracts }: { readonly seed: number; readonly contracts: readonly string[] | undefined },
): Promise<BundleUnit[]> {
  const scratchFolder = mkdtempSync(join(tmpdir(), 'metainfer-units-'));
  try {
    // planJobs starts nothing: of the toolchain it asks only whether the programs are for a device.
    const context = {
      ...{ engine, runSeed: seed, scratchFolder, renderConfigHeader },
      ...{ effort: { variants: true }, toolchain: { cuda: { mode: 'device' } } },
    } as unknown as UnitContext;
    const jobs = planJobs(context).filter(({ contract }) => contracts?.includes(contract.id) ?? true);
    const folders = new Map<string, string>();
    for (const { model } of jobs) {
      if (folders.has(model.folder)) continue;
      const folder = join(bundle, 'unit', `${folders.size}-${basename(model.folder).slice(0, 40)}`);
      cpSync(model.folder, folder, { recursive: true });
      folders.set(model.folder, folder);
    }
    const units = [];
    for (const job of jobs) {
      const unit = await writeUnit(bundle, programs, engine, {
        ...{ job, folder: folders.get(job.model.folder)! },
        drawn: drawJob({ runSeed: seed }, job),
      });
      units.push(...unit);
    }
    return units;
  } finally {
    rmSync(scratchFolder, { recursive: true, force: true });
  }
}

interface PlacedJob {
  readonly job: UnitJob;
  readonly folder: string;
  readonly drawn: readonly DrawnCase[];
}

async function writeUnit(
  bundle: string,
  programs: ProgramList,
  engine: EngineUnderTest,
  { job, folder, drawn }: PlacedJob,
): Promise<BundleUnit[]> {
  const { contract, model } = job;
  if (drawn.length === 0) return [];
  const id = `${contract.id} (${model.name})`;
  const needed = closureOf(engine.contracts, contract.id).flatMap(({ source }) => source ?? []);
  const program = programs.add(`unit ${id}`, folder, [...needed, shimFile(contract), 'shim-main.cpp']);
  const base = `cases/${basename(folder)}-${contract.id}`;
  mkdirSync(join(bundle, 'cases'), { recursive: true });
  const units = drawn.flatMap(({ whole, alone }) => [whole, ...alone.map(({ unit }) => unit)]);
  writeFileSync(join(bundle, `${base}.cases`), Buffer.concat(units.map(encodeCase)));
  const { ops } = (await import(pathToFileURL(contract.reference!).href)) as { ops: ReferenceOps };
  const { weightFormat, tokenizer } = engine;
  const wanted = drawn.map(({ whole }) => {
    const { inputs, params } = whole;
    return ops[whole.op]!({ inputs, params, facts: model.config.facts, weightFormat, tokenizer });
  });
  writeFileSync(join(bundle, `${base}.wanted`), Buffer.concat(wanted.map(encodeOutputs)));
  const checks = drawn.map(({ check, alone, rows }) => ({
    ...{ caseId: check.caseId, nmse: check.tolerance.nmse, maxAbs: check.tolerance.max_abs },
    ...{ exact: check.exact, rows, alone: alone.map(({ row }) => row), inputs: check.inputs },
  }));
  return [{ id, contract: contract.id, program, cases: `${base}.cases`, wanted: `${base}.wanted`, checks }];
}

function encodeOutputs(outputs: Readonly<Record<string, Tensor>>): Buffer {
  const entries = Object.entries(outputs);
  return Buffer.concat([
    text(''),
    u32(entries.length),
    ...entries.flatMap(([name, tensor]) => [text(name), encodeTensor(tensor)]),
  ]);
}

function encodeTensor({ shape, data }: Tensor): Buffer {
  const kind = data instanceof Float64Array ? 'd' : data instanceof Int32Array ? 'i' : 'u';
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return Buffer.concat([u32(kind.charCodeAt(0)), u32(shape.length), ...shape.map(u32), bytes]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([u32(bytes.length), bytes]);
}
