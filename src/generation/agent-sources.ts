import type { AgentFile } from '../model/agent-work.ts';
import type { SelectedContract, Selection } from '../model/catalog.ts';
import type { EngineFile, FileProvenance } from '../model/engine.ts';
import { AppError } from '../model/errors.ts';
import { sourceNameOf } from '../model/source-name.ts';
import type { AgentPaths } from './check-agent-code.ts';

/** What agents wrote of an engine, as far as they came. */
export interface AgentParts {
  readonly parts: readonly { readonly file: EngineFile; readonly origin: FileProvenance['origin'] }[];
  readonly written: readonly { readonly path: string; readonly contract: string; readonly model: string }[];
  /** Contracts whose file is still to be written. */
  readonly absent: readonly SelectedContract[];
}

export function listAgentPaths(selection: Selection): AgentPaths {
  return new Map(
    selection.contracts
      .filter(({ status }) => status === 'agent')
      .map((entry) => [
        sourceNameOf(entry),
        { contract: entry.contract.frontMatter.id, config: entry.contract.frontMatter.config },
      ]),
  );
}

/**
 * Files of agents for the contracts that the plan leaves to them; files for other contracts are not looked at.
 * @throws AppError INTERNAL for a file under another name than its contract's
 */
export function takeAgentFiles(selection: Selection, files: ReadonlyMap<string, AgentFile>): AgentParts {
  const open = selection.contracts.filter(({ status }) => status === 'agent');
  const taken = open.flatMap((entry) => {
    const file = files.get(entry.contract.frontMatter.id);
    return file === undefined ? [] : [{ entry, file }];
  });
  return {
    parts: taken.map(({ entry, file }) => toPart(entry, file)),
    written: taken.map(({ file: { path, contract, origin } }) => ({ path, contract, model: origin.model })),
    absent: open.filter(({ contract }) => !files.has(contract.frontMatter.id)),
  };
}

function toPart(entry: SelectedContract, file: AgentFile): AgentParts['parts'][number] {
  const { frontMatter, sha256, gateSha256 } = entry.contract;
  if (file.path !== sourceNameOf(entry))
    throw new AppError('INTERNAL', `An agent's file for ${frontMatter.id} is called ${file.path}.`);
  return {
    file: { path: file.path, text: file.text },
    origin: {
      kind: 'agent',
      contract: frontMatter.id,
      version: frontMatter.version,
      contractSha256: sha256,
      gateSha256,
      model: file.origin.model,
      requestSha256: file.origin.requestSha256,
    },
  };
}
