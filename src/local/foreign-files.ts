import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listAgentPaths } from '../generation/agent-sources.ts';
import { hashEngineFile } from '../generation/provenance-file.ts';
import { readPlainFile } from '../generation/read-plain-file.ts';
import type { EngineSources } from '../model/engine.ts';
import { AppError } from '../model/errors.ts';
import { composePrepared, type PreparedEngine } from '../preparation/prepare-engine.ts';
import type { Sandbox } from '../verification/sandbox.ts';
import { readAgentFiles } from './agent-claims.ts';

/** What may lie beside the composed files: outcomes, and what a person's own build leaves. */
const companions: ReadonlySet<string> = new Set(['report.json', 'report.md', 'build']);

export interface FolderInspection {
  /** Files that are not what they should be, and files that should be there; sorted. */
  readonly foreign: readonly string[];
  /** Sources that an agent has yet to write; sorted. */
  readonly absent: readonly string[];
  /** Sources that agents wrote, as provenance.yaml says; sorted. */
  readonly agents: readonly string[];
  /** What the composer makes with the files of these agents. */
  readonly composed: EngineSources;
}

/**
 * Compares an engine folder with what the knowledge of this checkout composes for its constraint file, byte for byte.
 * Of the folder's own word only one thing is believed: that a source was written by an agent, which makes it untrusted
 * code and nothing else. For all other files provenance.yaml cannot vouch; composing again can.
 */
export async function inspectFolder(prepared: PreparedEngine, folder: string): Promise<FolderInspection> {
  const agentFiles = await readAgentFiles(prepared.selection, folder);
  const composed = composePrepared(prepared, { agentFiles, isPartial: true });
  const wanted = new Map(composed.files.map((file) => [file.path, file.text]));
  const written = new Set([...agentFiles.values()].map(({ path }) => path));
  const present = await readdir(folder);
  const absent = [...listAgentPaths(prepared.selection).keys()].filter(
    (path) => !written.has(path) && !present.includes(path),
  );
  const foreign: string[] = [];
  for (const name of present) {
    if (companions.has(name)) continue;
    const expected = wanted.get(name);
    wanted.delete(name);
    const text = expected === undefined ? undefined : await readPlainFile(join(folder, name));
    const isSame =
      text !== undefined &&
      expected !== undefined &&
      hashEngineFile(name, text) === hashEngineFile(name, expected);
    if (!isSame) foreign.push(name);
  }
  foreign.push(...wanted.keys());
  return { foreign: foreign.sort(), absent: absent.sort(), agents: [...written].sort(), composed };
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
  const { foreign, agents } = await inspectFolder(prepared, folder);
  if (foreign.length > 0) {
    throw new AppError(
      'SANDBOX_UNAVAILABLE',
      `There is no sandbox here (${sandbox.reason}), and ${list(foreign)} in ${folder} ${foreign.length === 1 ? 'is' : 'are'} not what the knowledge composes: such code is neither compiled nor run. Install bubblewrap, or generate the engine again.`,
    );
  }
  if (agents.length === 0) return;
  throw new AppError(
    'SANDBOX_UNAVAILABLE',
    `There is no sandbox here (${sandbox.reason}), and language models wrote ${list(agents)} in ${folder}: such code is compiled and run only under bubblewrap. Install it (\`sudo apt-get install bubblewrap\`, \`sudo dnf install bubblewrap\`), and leave METAINFER_SANDBOX unset.`,
  );
}

function list(names: readonly string[]): string {
  const rest = names.length - 5;
  return rest > 0 ? `${names.slice(0, 5).join(', ')} and ${rest} more` : names.join(', ');
}
