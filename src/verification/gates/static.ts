import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCudaFile } from '../../model/code-cuda.ts';
import { scanSource } from '../../model/code-rules.ts';
import type { Finding } from '../../model/report.ts';
import {
  contractOfFile,
  type EngineUnderTest,
  type GateContext,
  type GateOutcome,
  makeFinding,
} from '../gate-context.ts';

/** Lines that hold code: an engine must stay small enough to be read, and comments help reading. */
const maxCodeLines = 2500;
/** Kernels for a few rows and for many come on top. */
const maxGpuCodeLines = 3500;
const maxFileLines = 500;
const maxFileBytes = 512 * 1024;
const companions: ReadonlySet<string> = new Set([
  ...[
    'constraints.yaml',
    'provenance.yaml',
    'CMakeLists.txt',
    'config.h',
    'README.md',
    'LICENSE',
    'report.json',
  ],
]);

function isSource(file: string): boolean {
  return /\.(?:h|cpp|cu)$/.test(file);
}

/** Files that an engine folder may hold: those of its contracts and the composer's own. */
function listStrangers(context: GateContext): Finding[] {
  const { engine } = context;
  const known = new Set([
    ...companions,
    ...engine.contracts.flatMap(({ header, source }) => [header, source ?? header]),
  ]);
  const findings: Finding[] = [];
  for (const entry of readdirSync(engine.folder)) {
    // What a person's own build leaves is neither read nor run.
    if (entry === 'build') continue;
    const kind = lstatSync(join(engine.folder, entry));
    if (!kind.isFile())
      findings.push(makeFinding('static', null, `${entry} is not a plain file`, {}, { file: entry }));
    else if (!known.has(entry)) {
      findings.push(
        makeFinding('static', null, `${entry} belongs to no contract of this engine`, {}, { file: entry }),
      );
    } else if (kind.size > maxFileBytes) {
      const message = `${entry} has ${kind.size} bytes (limit ${maxFileBytes})`;
      findings.push(makeFinding('static', contractOfFile(engine, entry), message, {}, { file: entry }));
    }
  }
  return findings;
}

/** Neither blank nor comment alone. */
export function countCodeLines(text: string): number {
  const withoutComments = text.replace(/\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm, '');
  return withoutComments.split('\n').filter((line) => line.trim() !== '').length;
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}

/** The rules for one file in C++ or CUDA C++. */
export function scanFile(
  engine: EngineUnderTest,
  headers: ReadonlySet<string>,
  file: string,
  text: string,
): Finding[] {
  const contract = contractOfFile(engine, file);
  const count = countLines(text);
  const language = isCudaFile(file, contract) ? 'cuda' : 'c++';
  const faults = scanSource(text, { headers, contract, language }).map(({ line, message }) =>
    makeFinding('static', contract, message, {}, { file, line }),
  );
  if (count <= maxFileLines) return faults;
  const message = `${file} has ${count} lines (limit ${maxFileLines})`;
  const evidence = { wanted: `at most ${maxFileLines} lines`, got: `${count} lines` };
  return [makeFinding('static', contract, message, evidence, { file }), ...faults];
}

/** Before anything is compiled: the right files, unchanged, with nothing in them that an engine has no need of. */
export async function runStaticGate(context: GateContext): Promise<GateOutcome> {
  const { engine } = context;
  const findings = listStrangers(context);
  if (findings.length > 0) return { findings };
  const files = readdirSync(engine.folder).filter(isSource);
  const headers = new Set(files.filter((file) => file.endsWith('.h')));
  let lines = 0;
  let codeLines = 0;
  for (const file of files) {
    const text = readFileSync(join(engine.folder, file), 'utf8');
    lines += countLines(text);
    codeLines += countCodeLines(text);
    findings.push(...scanFile(engine, headers, file, text));
  }
  const limit = engine.onDevice ? maxGpuCodeLines : maxCodeLines;
  if (codeLines > limit) {
    const message = `the engine has ${codeLines} lines of C++ code (limit ${limit})`;
    findings.push(makeFinding('static', null, message));
  }
  findings.push(...(await context.checkProvenance(engine.folder)));
  return { findings, measurements: { files: files.length, lines, code_lines: codeLines } };
}
