import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashEngineFile } from '../generation/provenance-file.ts';
import { AppError } from '../model/errors.ts';
import { composePrepared, type PreparedEngine } from '../preparation/prepare-engine.ts';
import type { Sandbox } from '../verification/sandbox.ts';

/** What may lie beside the composed files: outcomes, and what a person's own build leaves. */
const companions: ReadonlySet<string> = new Set(['report.json', 'report.md', 'build']);

/**
 * Files of an engine folder that are not, byte for byte, what the knowledge of this checkout composes for its
 * constraint file. provenance.yaml cannot vouch for itself; composing again can.
 */
export async function findForeignFiles(prepared: PreparedEngine, folder: string): Promise<readonly string[]> {
  const composed = new Map(composePrepared(prepared).files.map((file) => [file.path, file.text]));
  const foreign: string[] = [];
  for (const name of await readdir(folder)) {
    if (companions.has(name)) continue;
    const wanted = composed.get(name);
    const isPlain = (await lstat(join(folder, name))).isFile();
    const text = isPlain && wanted !== undefined ? await readFile(join(folder, name), 'utf8') : undefined;
    const isSame =
      text !== undefined &&
      wanted !== undefined &&
      hashEngineFile(name, text) === hashEngineFile(name, wanted);
    if (!isSame) foreign.push(name);
    composed.delete(name);
  }
  return [...foreign, ...composed.keys()].sort();
}

/**
 * Without a sandbox only code composed of verified realizations is compiled or run.
 * @throws AppError SANDBOX_UNAVAILABLE naming the files that are something else
 */
export async function requireTrustedCode(
  prepared: PreparedEngine,
  folder: string,
  sandbox: Sandbox,
): Promise<void> {
  if (sandbox.kind !== 'none') return;
  const foreign = await findForeignFiles(prepared, folder);
  if (foreign.length === 0) return;
  throw new AppError(
    'SANDBOX_UNAVAILABLE',
    `There is no sandbox here (${sandbox.reason}), and ${foreign.slice(0, 5).join(', ')} in ${folder} ${foreign.length === 1 ? 'is' : 'are'} not what the knowledge composes: such code is neither compiled nor run. Install bubblewrap, or generate the engine again.`,
  );
}
