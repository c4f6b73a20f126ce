import { readdirSync } from 'node:fs';
import type { Finding } from '../../model/report.ts';
import { type BuildResult, buildProgram } from '../build.ts';
import type { BuildTarget } from '../compile-recipe.ts';
import { judgeResources, type KernelResources, summarizeResources } from '../cuda-resources.ts';
import { demangle } from '../demangle.ts';
import type { Diagnostic } from '../diagnostics.ts';
import {
  contractOfFile,
  type EngineUnderTest,
  type GateContext,
  type GateOutcome,
  makeFinding,
} from '../gate-context.ts';
import type { CudaToolchain } from '../toolchain.ts';
import { runSanitizedChecks } from './sanitized.ts';
import { ownerOfDiagnostic } from './symbol-owner.ts';

/** The engine's translation units, in name order so that the same tree links the same way. */
export function listSources(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => /\.(?:cpp|cu)$/.test(file))
    .sort();
}

function toFinding(engine: EngineUnderTest, diagnostic: Diagnostic, where: string): Finding {
  const contract = ownerOfDiagnostic(engine, diagnostic);
  // A symbol that is missing is named where it is used, which is another contract's file.
  const isPlace = diagnostic.file !== 'link' && contractOfFile(engine, diagnostic.file) === contract;
  const file = isPlace ? diagnostic.file : null;
  const evidence = { wanted: `code that compiles and links${where}`, got: diagnostic.message };
  const line = file === null ? null : diagnostic.line;
  return makeFinding('build', contract, `${diagnostic.message}${where}`, evidence, { file, line });
}

/** What the kernels use that is more than the platform allows, by contract. */
async function judgeKernels(
  { engine, toolchain }: GateContext,
  cuda: CudaToolchain,
  resources: readonly KernelResources[],
): Promise<Finding[]> {
  const faults = judgeResources(resources, cuda.limits);
  const names = await demangle(
    toolchain,
    faults.map(({ kernel }) => kernel.symbol),
  );
  return faults.map(({ kernel, got, wanted }) => {
    const { source: file, symbol } = kernel;
    const architecture = `sm_${kernel.architecture}`;
    const name = names.get(symbol) ?? symbol;
    const message = `kernel ${name} has ${got} on ${architecture} (${wanted})`;
    const evidence = { kernel: name, architecture, wanted, got };
    return makeFinding('build', contractOfFile(engine, file), message, evidence, { file });
  });
}

/** The engine built in one way: its program, or what is against it. */
async function buildFor(
  context: GateContext,
  target: BuildTarget,
  sanitize: boolean,
): Promise<BuildResult & { readonly findings: readonly Finding[] }> {
  const { engine, toolchain } = context;
  const request = { folder: engine.folder, sources: listSources(engine.folder), sanitize, target };
  const built = await buildProgram(toolchain, request);
  const where = target === 'emulation' ? ' (host emulation)' : '';
  return { ...built, findings: built.diagnostics.map((item) => toFinding(engine, item, where)) };
}

async function buildPlain(context: GateContext, cuda: CudaToolchain | undefined): Promise<GateOutcome> {
  const plain = await buildFor(context, cuda === undefined ? 'host' : 'device', false);
  if (plain.binary === undefined) return { findings: plain.findings };
  context.binaries.plain = plain.binary;
  const { compiled, cached, seconds, resources } = plain;
  const measurements = { units: compiled + cached, seconds, from_cache: cached };
  if (cuda === undefined) return { findings: [], measurements };
  return {
    findings: await judgeKernels(context, cuda, resources),
    measurements: { ...measurements, ...summarizeResources(resources) },
  };
}

/** Where no GPU is, the gates that need the whole engine run this. */
async function buildEmulated(context: GateContext): Promise<readonly Finding[]> {
  const { binary, findings } = await buildFor(context, 'emulation', false);
  if (binary !== undefined) context.binaries.emulated = binary;
  return findings;
}

async function buildSanitized(context: GateContext): Promise<GateOutcome> {
  const target = context.engine.onDevice ? 'emulation' : 'host';
  const { binary, findings, seconds } = await buildFor(context, target, true);
  if (binary === undefined) return { findings };
  context.binaries.sanitized = binary;
  const measurements = { sanitized: true, sanitized_seconds: seconds };
  return { findings: await runSanitizedChecks(context), measurements };
}

/**
 * Compiles in the sandbox, plainly and with sanitizers, and runs the sanitized engine on hostile input. An engine for a
 * GPU is compiled for every architecture of its platform; what is sanitized of it is its host emulation.
 */
export async function runBuildGate(context: GateContext): Promise<GateOutcome> {
  const { engine, effort, toolchain, binaries } = context;
  const cuda = engine.onDevice ? toolchain.cuda : undefined;
  const isEmulatedOnly = engine.onDevice && effort.deviceBuild === false;
  const { findings, measurements } = isEmulatedOnly
    ? { findings: [], measurements: {} }
    : await buildPlain(context, cuda);
  if (binaries.plain === undefined && !isEmulatedOnly) return { findings };
  const canRun = !engine.onDevice || effort.emulate === true;
  const unemulated = canRun && cuda?.mode === 'compile-only' ? await buildEmulated(context) : [];
  if (!effort.sanitize || !canRun || unemulated.length > 0)
    return { findings: [...findings, ...unemulated], measurements: { ...measurements, sanitized: false } };
  const sanitized = await buildSanitized(context);
  return {
    findings: [...findings, ...sanitized.findings],
    measurements: { ...measurements, ...sanitized.measurements },
  };
}
