import type { Problem } from '../../model/problem.ts';
import { type LoadedContract, pageProblem } from '../contract-folder.ts';
import type { LoadedFailureMode } from '../failure-mode-file.ts';
import { isPlaceholder } from './check-sources.ts';
import type { KnowledgeChange, KnowledgeSide, LoadedSabotage } from './knowledge-side.ts';

/** Contracts and failure modes name each other, and of a new failure mode a mutation shows that its gate sees it. */
export function checkFailureModes({ before, after }: KnowledgeChange): Problem[] {
  const known = new Set(before.failureModes.map(({ frontMatter }) => frontMatter.id));
  const missing = new Set(before.failureModes.flatMap((mode) => checkBackLinks(mode, before)).map(linkOf));
  return after.failureModes.flatMap((mode) => {
    const isNew = !known.has(mode.frontMatter.id);
    return [
      // What was missing before is not this change's fault.
      ...checkBackLinks(mode, after).filter((problem) => !missing.has(linkOf(problem))),
      ...checkReferences(mode),
      ...(isNew ? checkMutation(mode, after.sabotage) : []),
    ];
  });
}

function linkOf({ file, message }: Problem): string {
  return `${file}: ${message}`;
}

function modeProblem(
  { slug, locate }: LoadedFailureMode,
  path: (string | number)[],
  code: string,
  message: string,
): Problem {
  const file = `failure-modes/${slug}.md`;
  return { severity: 'error', code, file, ...locate(path), path: path.join('.'), message };
}

function checkBackLinks(mode: LoadedFailureMode, after: KnowledgeSide): Problem[] {
  const { id, contracts } = mode.frontMatter;
  const names = (loaded: LoadedContract) => loaded.contract.frontMatter.failure_modes;
  const isNamedBy = (loaded: LoadedContract) =>
    names(loaded).some((name) => name === id || name === mode.slug);
  const silent = contracts.flatMap((contract, index) => {
    const loaded = after.contracts.get(contract);
    if (loaded === undefined || isNamedBy(loaded)) return [];
    const message = `${contract} does not list ${id} under failure_modes, so nobody who writes it will read this`;
    return [modeProblem(mode, ['contracts', index], 'failure-mode-not-listed', message)];
  });
  const foreign = [...after.contracts]
    .filter(([contract, loaded]) => {
      // Where a mistake is about a contract, it is about what stands for it.
      const own = [contract, loaded.contract.frontMatter.stands_for];
      return isNamedBy(loaded) && !own.some((name) => name !== undefined && contracts.includes(name));
    })
    .map(([contract, loaded]) => {
      const index = names(loaded).findIndex((name) => name === id || name === mode.slug);
      const message = `${id} does not name ${contract} among the contracts it can appear in`;
      return pageProblem(loaded, 'failure-mode-not-listed', ['failure_modes', index], message);
    });
  return [...silent, ...foreign];
}

function checkReferences(mode: LoadedFailureMode): Problem[] {
  return mode.frontMatter.references.flatMap((text, index) =>
    isPlaceholder(text)
      ? [
          modeProblem(
            mode,
            ['references', index],
            'source-missing',
            `"${text}" is no source that others can open`,
          ),
        ]
      : [],
  );
}

/** The entry that makes the mistake on purpose names it: `fm-49` in its id or in what it says. */
function checkMutation(mode: LoadedFailureMode, sabotage: readonly LoadedSabotage[]): Problem[] {
  const { id, contracts } = mode.frontMatter;
  const mutations = sabotage.flatMap(({ value }) => value.mutations);
  const naming = mutations.filter((entry) => new RegExp(`\\b${id}\\b`).test(`${entry.id} ${entry.says}`));
  if (naming.length === 0) {
    const message = `no mutation of sabotage.yaml names ${id}: nothing shows that a gate would see this mistake`;
    return [modeProblem(mode, ['id'], 'no-mutation', message)];
  }
  if (naming.some((entry) => [entry.contract, ...entry.also].some((name) => contracts.includes(name))))
    return [];
  const message = `the mutation ${naming[0]!.id} that names ${id} changes ${naming[0]!.contract}, which is not among its contracts`;
  return [modeProblem(mode, ['contracts'], 'no-mutation', message)];
}
