import { join } from 'node:path';
import { hashEngineFile, parseProvenance, provenancePath } from '../generation/provenance-file.ts';
import { readPlainFile } from '../generation/read-plain-file.ts';
import type { AgentFile } from '../model/agent-work.ts';
import type { Selection } from '../model/catalog.ts';
import { sourceNameOf } from '../model/source-name.ts';

/** A file that a folder says an agent wrote. Nothing vouches for it: it is believed to be untrusted code, no more. */
export interface AgentClaim {
  readonly path: string;
  readonly sha256: string;
  readonly contract: string;
  readonly model: string;
  readonly requestSha256: string;
}

/** As an agent's file may be; what is larger was not written by this program. */
const maxAgentFileBytes = 2 ** 16;

/**
 * What provenance.yaml of a folder says agents wrote; nothing where it cannot be read, or names a contract or a file
 * twice.
 */
export async function readAgentClaims(folder: string): Promise<readonly AgentClaim[]> {
  const text = await readPlainFile(join(folder, provenancePath));
  const files = (text === undefined ? undefined : parseProvenance(text))?.files ?? [];
  const claims = files.flatMap(({ path, sha256, origin }): AgentClaim[] => {
    if (origin.kind !== 'agent') return [];
    const { contract, model, requestSha256 } = origin;
    return [{ path, sha256, contract, model, requestSha256 }];
  });
  const isAmbiguous =
    new Set(claims.map(({ contract }) => contract)).size < claims.length ||
    new Set(files.map(({ path }) => path)).size < files.length;
  return isAmbiguous ? [] : claims;
}

/** How the contracts of an engine folder are filled: by agents where the folder says so, and by no other code than theirs. */
export async function agentsOfFolder(
  folder: string,
): Promise<{ readonly hasModel: true; readonly rewritten: ReadonlySet<string> }> {
  const claims = await readAgentClaims(folder);
  return { hasModel: true, rewritten: new Set(claims.map(({ contract }) => contract)) };
}

/**
 * The files of agents in a folder, for the contracts that the selection leaves to agents: each under its contract's own
 * name and with the hash that provenance.yaml states.
 */
export async function readAgentFiles(
  selection: Selection,
  folder: string,
): Promise<ReadonlyMap<string, AgentFile>> {
  const claims = new Map((await readAgentClaims(folder)).map((claim) => [claim.contract, claim]));
  const files = new Map<string, AgentFile>();
  for (const entry of selection.contracts) {
    const claim = claims.get(entry.contract.frontMatter.id);
    const path = sourceNameOf(entry);
    if (entry.status !== 'agent' || claim === undefined || claim.path !== path) continue;
    const text = await readPlainFile(join(folder, path));
    if (text === undefined || Buffer.byteLength(text) > maxAgentFileBytes) continue;
    if (hashEngineFile(path, text) !== claim.sha256) continue;
    const { contract, sha256, model, requestSha256 } = claim;
    files.set(contract, { contract, path, text, sha256, origin: { model, requestSha256, attempt: 1 } });
  }
  return files;
}
