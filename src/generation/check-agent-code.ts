import { findConfigReferences, tokenizeCpp } from '../model/cpp-tokens.ts';
import type { EngineFile } from '../model/engine.ts';
import type { Problem } from '../model/problem.ts';
import { checkIncludes } from './check-includes.ts';
import { findDeadCode, findDeclaredNames } from './find-dead-code.ts';

/** Path of a file that an agent wrote → what its contract lets it use. */
export type AgentPaths = ReadonlyMap<
  string,
  { readonly contract: string; readonly config: readonly string[] }
>;

/**
 * What is wrong with files of agents as parts of an engine: an include that is not allowed, a constant that the
 * contract doesn't list, a function of its own that nothing refers to. `files` is the whole engine.
 */
export function checkAgentCode(files: readonly EngineFile[], agents: AgentPaths): Problem[] {
  const isAgent = ({ file }: Problem): boolean => file !== undefined && agents.has(file);
  return [
    ...checkIncludes(files).filter(isAgent),
    ...files.flatMap((file) => findUnlistedConstants(file, agents)),
    ...findOwnDeadCode(files, agents).filter(isAgent),
  ];
}

/**
 * Dead code of an engine in which agents wrote files. What a header declares is the contract's, and an agent may do
 * without a part of another contract: only what stands in a source alone can be dead.
 */
export function findOwnDeadCode(
  files: readonly EngineFile[],
  agents: AgentPaths,
  fused: ReadonlySet<string> = new Set(),
): Problem[] {
  const found = findDeadCode(files).filter(({ name }) => !fused.has(name ?? ''));
  if (agents.size === 0 || found.length === 0) return found;
  const declared = findDeclaredNames(files);
  return found.filter(
    ({ code, file, name }) =>
      code !== 'dead-code' || (file?.endsWith('.h') !== true && !declared.has(name ?? '')),
  );
}

function findUnlistedConstants(file: EngineFile, agents: AgentPaths): Problem[] {
  const agent = agents.get(file.path);
  if (agent === undefined) return [];
  const listed = agent.config.length === 0 ? 'none' : agent.config.join(', ');
  return [...findConfigReferences(tokenizeCpp(file.text))]
    .filter(([name]) => !agent.config.includes(name))
    .map(([name, line]) => ({
      severity: 'error',
      code: 'unlisted-constant',
      file: file.path,
      line,
      message: `config::${name} is no constant of ${agent.contract}; its contract lists ${listed}`,
    }));
}
