import { readdirSync } from 'node:fs';
import type { Finding } from '../../model/report.ts';
import { buildProgram } from '../build.ts';
import type { Diagnostic } from '../diagnostics.ts';
import {
  contractOfFile,
  type EngineUnderTest,
  type GateContext,
  type GateOutcome,
  makeFinding,
} from '../gate-context.ts';
import { runSanitizedChecks } from './sanitized.ts';
import { ownerOfDiagnostic } from './symbol-owner.ts';

/** The engine's translation units, in name order so that the same tree links the same way. */
export function listSources(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.cpp'))
    .sort();
}

function toFinding(engine: EngineUnderTest, diagnostic: Diagnostic): Finding {
  const contract = ownerOfDiagnostic(engine, diagnostic);
  // A symbol that is missing is named where it is used, which is another contract's file.
  const isPlace = diagnostic.file !== 'link' && contractOfFile(engine, diagnostic.file) === contract;
  const file = isPlace ? diagnostic.file : null;
  const evidence = { wanted: 'code that compiles and links', got: diagnostic.message };
  const line = file === null ? null : diagnostic.line;
  return makeFinding('build', contract, diagnostic.message, evidence, { file, line });
}

/** Compiles in the sandbox, plainly and with sanitizers, and runs the sanitized engine on hostile input. */
export async function runBuildGate(context: GateContext): Promise<GateOutcome> {
  const { engine, toolchain } = context;
  const request = { folder: engine.folder, sources: listSources(engine.folder) };
  const plain = await buildProgram(toolchain, { ...request, sanitize: false });
  if (plain.binary === undefined)
    return { findings: plain.diagnostics.map((item) => toFinding(engine, item)) };
  context.binaries.plain = plain.binary;
  const measurements = { units: request.sources.length, seconds: plain.seconds, from_cache: plain.cached };
  if (!context.effort.sanitize) return { findings: [], measurements: { ...measurements, sanitized: false } };
  const sanitized = await buildProgram(toolchain, { ...request, sanitize: true });
  if (sanitized.binary === undefined) {
    return { findings: sanitized.diagnostics.map((item) => toFinding(engine, item)), measurements };
  }
  context.binaries.sanitized = sanitized.binary;
  const findings = await runSanitizedChecks(context);
  return {
    findings,
    measurements: { ...measurements, sanitized: true, sanitized_seconds: sanitized.seconds },
  };
}
