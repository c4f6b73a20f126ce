import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Problem } from '../model/problem.ts';
import { hashEngineFile, type ProvenanceFile, parseProvenance, provenancePath } from './provenance-file.ts';
import { readPlainFile } from './read-plain-file.ts';

/** What may lie beside the generated files: the outcome of verification, and what a person's own build leaves. */
const laterFiles = new Set(['report.json', 'report.md']);
const laterFolders = new Set(['build']);

export interface ProvenanceCheck {
  /** Absent where the folder holds no readable provenance.yaml. */
  readonly provenance?: ProvenanceFile;
  /** Paths, sorted. */
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  readonly added: readonly string[];
  /** The same as problems, one for each file; empty where the folder is exactly what the composer wrote. */
  readonly problems: readonly Problem[];
}

/** Compares an engine folder with its own provenance.yaml. */
export async function checkProvenance(folder: string): Promise<ProvenanceCheck> {
  const text = await readPlainFile(join(folder, provenancePath));
  const provenance = text === undefined ? undefined : parseProvenance(text);
  if (provenance === undefined) {
    const message =
      text === undefined
        ? 'is missing: this is not an engine folder'
        : 'cannot be read as provenance of an engine';
    const problem: Problem = { severity: 'error', code: 'no-provenance', file: provenancePath, message };
    return { changed: [], missing: [], added: [], problems: [problem] };
  }
  const present = new Set(await listEngineFiles(folder, ''));
  const changed: string[] = [];
  const missing: string[] = [];
  for (const file of provenance.files) {
    if (!present.delete(file.path)) {
      missing.push(file.path);
      continue;
    }
    const found = await readPlainFile(join(folder, file.path));
    if (found === undefined || hashEngineFile(file.path, found) !== file.sha256) changed.push(file.path);
  }
  const added = [...present].filter((path) => path !== provenancePath && !laterFiles.has(path)).sort();
  const problems = [
    ...changed.map((path) => toProblem('file-changed', path, 'differs from what the composer wrote')),
    ...missing.map((path) =>
      toProblem('file-missing', path, 'is listed in provenance.yaml but does not exist'),
    ),
    ...added.map((path) => toProblem('file-added', path, 'is not listed in provenance.yaml')),
  ];
  return { provenance, changed: changed.sort(), missing: missing.sort(), added, problems };
}

function toProblem(code: string, file: string, message: string): Problem {
  return { severity: 'error', code, file, message };
}

async function listEngineFiles(folder: string, prefix: string): Promise<string[]> {
  const entries = await readdir(join(folder, prefix), { withFileTypes: true });
  const nested = entries.map((entry) => {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return prefix === '' && laterFolders.has(entry.name) ? [] : listEngineFiles(folder, path);
  });
  return (await Promise.all(nested)).flat();
}
