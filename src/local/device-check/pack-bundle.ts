import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { writeEngine } from '../../generation/write-engine.ts';
import type { Catalog, Platform } from '../../model/catalog.ts';
import { AppError } from '../../model/errors.ts';
import { packageRoot } from '../../preparation/package-root.ts';
import { composePrepared, type PreparedEngine, prepareEngine } from '../../preparation/prepare-engine.ts';
import { readConstraintFile, readRequest } from '../../preparation/read-request.ts';
import { indexCheckpoint } from '../../verification/safetensors.ts';
import { engineUnderTest } from '../judge-engine.ts';
import type { BundleFile, BundleManifest, CheckedEngine, CompileFlags } from './bundle-manifest.ts';
import { makeLedger, makeTexts, writeOracle } from './bundle-oracle.ts';
import { ProgramList } from './bundle-programs.ts';
import { describeShape, engineConstants, miniatureTests, realTests } from './bundle-shapes.ts';
import { writeUnits } from './bundle-units.ts';

/** Of this package, also when it is built to dist/; what the device machine gets lies there as it is. */
const sourceFolder = (part: string): string => join(packageRoot(), 'src', part);
/** With the working tree it must fit into what a lent machine takes. */
const maxBundleBytes = 60 * 2 ** 20;
const manifestSchema = 'metainfer/device-check-bundle/v1';
const checkpointFiles = /^(?:config|generation_config|tokenizer|tokenizer_config)\.json$|\.safetensors$/;

/** Constraint files of the engines: the one that every gate runs on, and those that are measured. */
export interface BundleEngines {
  readonly checked: string;
  readonly shapes: readonly { readonly id: string; readonly file: string }[];
}

export function deviceCheckEngines(): BundleEngines {
  const file = (name: string) => join(packageRoot(), 'knowledge/examples', `${name}.yaml`);
  return {
    checked: file('tiny-qwen3-cuda'),
    shapes: [
      { id: 'qwen3-8b', file: file('qwen3-8b-h200') },
      { id: 'qwen3-0.6b', file: file('qwen3-0.6b-h200') },
    ],
  };
}

export interface PackOptions {
  readonly catalog: Catalog;
  readonly engines: BundleEngines;
  readonly seed: number;
  /** Tokens that the oracle works through. */
  readonly oracleTokens: number;
  /** Contracts that have unit gates; absent: all. */
  readonly unitContracts?: readonly string[];
  readonly onDetail: (text: string) => void;
}

/**
 * Writes everything that the device machine needs into one folder, which may hold an older bundle.
 * @throws AppError OUTPUT_EXISTS where it holds anything else, and what composing an engine throws
 */
export async function packBundle(folder: string, options: PackOptions): Promise<BundleManifest> {
  const bundle = resolve(folder);
  makeRoom(bundle);
  const { catalog, engines, seed, onDetail } = options;
  const programs = new ProgramList(bundle);
  onDetail('engines');
  const checked = await addEngine(programs, catalog, engines.checked);
  const shapes = [];
  for (const { id, file } of engines.shapes) {
    const { prepared, program } = await addEngine(programs, catalog, file);
    shapes.push(describeShape(id, program, prepared, realTests));
  }
  onDetail('oracle');
  const constants = engineConstants(checked.prepared);
  const oracle = await writeOracle(bundle, checked.prepared, {
    ...{ constants, seed, tokens: options.oracleTokens },
  });
  onDetail('references of the unit gates');
  const units = await writeUnits(
    bundle,
    programs,
    engineUnderTest(checked.prepared, programs.folderOf(checked.program)),
    { seed, contracts: options.unitContracts },
  );
  copyDeviceFiles(bundle);
  const manifest: BundleManifest = {
    schema: manifestSchema,
    createdAt: new Date().toISOString(),
    catalogSha256: catalog.sha256,
    seed,
    compile: compileFlags(checked.prepared.platform, checked.prepared),
    checked: await describeChecked(bundle, checked, oracle, seed),
    shapes,
    miniature: describeShape('miniature', checked.program, checked.prepared, miniatureTests),
    units,
    programs: programs.programs,
    objects: [...programs.objects.values()],
    files: listFiles(bundle),
  };
  writeFileSync(join(bundle, 'manifest.json'), `${JSON.stringify(manifest)}\n`);
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > maxBundleBytes)
    throw new AppError(
      'INTERNAL',
      `The bundle has ${bytes} bytes, more than the ${maxBundleBytes} that may travel.`,
    );
  return manifest;
}

function makeRoom(bundle: string): void {
  if (existsSync(bundle)) {
    const isOurs = readdirSync(bundle).length === 0 || isBundle(bundle);
    if (!isOurs)
      throw new AppError('OUTPUT_EXISTS', `${bundle} is not empty and holds no bundle; name another folder.`);
    rmSync(bundle, { recursive: true });
  }
  mkdirSync(bundle, { recursive: true });
}

export function isBundle(folder: string): boolean {
  const path = join(folder, 'manifest.json');
  return existsSync(path) && readFileSync(path, 'utf8').startsWith(`{"schema":"${manifestSchema}"`);
}

interface AddedEngine {
  readonly prepared: PreparedEngine;
  readonly program: string;
}

async function addEngine(programs: ProgramList, catalog: Catalog, file: string): Promise<AddedEngine> {
  const request = await readRequest(await readConstraintFile(file), {
    ...{ fileName: file, origin: 'command-line', weightsRoot: undefined },
    catalog,
  });
  const prepared = prepareEngine(request, catalog);
  const sources = composePrepared(prepared);
  const id = `engines/${sources.name}`;
  await writeEngine(sources, programs.folderOf(id));
  const names = sources.files.map(({ path }) => path).filter((path) => /\.(?:cpp|cu)$/.test(path));
  return { prepared, program: programs.add(id, programs.folderOf(id), names) };
}

async function describeChecked(
  bundle: string,
  { prepared, program }: AddedEngine,
  oracle: CheckedEngine['oracle'],
  seed: number,
): Promise<CheckedEngine> {
  const { constraints, model } = prepared.request;
  const folder = model.folder!;
  const checkpoint = 'checkpoint';
  mkdirSync(join(bundle, checkpoint));
  for (const name of readdirSync(folder).filter((entry) => checkpointFiles.test(entry)))
    cpSync(join(folder, name), join(bundle, checkpoint, name), { dereference: true });
  const tensors = [...indexCheckpoint(folder).tensors.values()];
  const { mean_kld, top1_agreement } = constraints.goals.fidelity;
  return {
    ...{ name: constraints.name, program, checkpoint, oracle },
    constants: engineConstants(prepared),
    fidelity: { meanKld: mean_kld, top1Agreement: top1_agreement },
    tensors: tensors.map(({ name, format, shape }) => ({ name, dtype: format, shape })),
    ledger: makeLedger(folder, seed, model.facts.vocabSize),
    texts: await makeTexts(prepared, folder, seed),
  };
}

/** As the harness compiles, but for -Werror: another compiler's new warning is no reason to lose a lent machine. */
function compileFlags(platform: Platform, { request }: PreparedEngine): CompileFlags {
  const { arch } = request.constraints.hardware;
  const isWarning = (flag: string) => /^-Werror/.test(flag);
  const lenient = (flag: string) => flag.replace(/,-Werror\b/, '');
  const number = arch.replace(/^sm_/, '');
  return {
    cxx: [...platform.flags, ...(platform.archs[arch]?.flags ?? [])].filter((flag) => !isWarning(flag)),
    nvcc: (platform.gpu?.flags ?? []).filter((flag) => !isWarning(flag)).map(lenient),
    gencode: platform.gpu === undefined ? '' : `-gencode=arch=compute_${number},code=sm_${number}`,
  };
}

function copyDeviceFiles(bundle: string): void {
  cpSync(sourceFolder('local/device-check/device'), join(bundle, 'device'), {
    recursive: true,
    filter: (path) => !/__pycache__|\.pyc$/.test(path),
  });
  cpSync(sourceFolder('verification/cuda-ceilings.cu'), join(bundle, 'device/ceilings.cu'));
  cpSync(sourceFolder('verification/cuda-emulation'), join(bundle, 'emulation'), { recursive: true });
}

function listFiles(bundle: string): BundleFile[] {
  return readdirSync(bundle, { recursive: true, encoding: 'utf8' })
    .map((path) => join(bundle, path))
    .filter((path) => statSync(path).isFile())
    .map((path) => {
      const bytes = readFileSync(path);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return { path: relative(bundle, path), bytes: bytes.length, sha256 };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
