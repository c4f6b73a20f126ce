import type { Problem } from '../../model/problem.ts';
import type { SabotageEntry } from '../../model/sabotage.ts';
import type { LoadedContract } from '../contract-folder.ts';
import type { KnowledgeSide, LoadedSabotage } from './knowledge-side.ts';

/** Every mutation still meets the text that it changes; one that doesn't would be counted and show nothing. */
export function checkSabotage(after: KnowledgeSide): Problem[] {
  return [...after.sabotageProblems, ...after.sabotage.flatMap((file) => checkFile(file, after))];
}

function checkFile({ file, value, locate }: LoadedSabotage, after: KnowledgeSide): Problem[] {
  const seen = new Set<string>();
  return value.mutations.flatMap((entry, index) => {
    const tell = (path: (string | number)[], code: string, message: string): Problem => {
      const full = ['mutations', index, ...path];
      return { severity: 'error', code, file, ...locate(full), path: full.join('.'), message };
    };
    const problems: Problem[] = [];
    if (seen.has(entry.id)) problems.push(tell(['id'], 'duplicate-id', `${entry.id} stands here twice`));
    seen.add(entry.id);
    if (!Object.hasOwn(value.checkpoints, entry.checkpoint))
      problems.push(tell(['checkpoint'], 'dangling-mutation', `there is no checkpoint ${entry.checkpoint}`));
    const unknown = entry.also.findIndex((id) => !after.contracts.has(id));
    if (unknown >= 0)
      problems.push(
        tell(['also', unknown], 'dangling-mutation', `there is no contract ${entry.also[unknown]}`),
      );
    const loaded = after.contracts.get(entry.contract);
    if (loaded === undefined)
      return [...problems, tell(['contract'], 'dangling-mutation', `there is no contract ${entry.contract}`)];
    const text = textOf(loaded, entry);
    if (text === undefined) {
      const message = `${entry.contract} has no realization ${entry.realization}`;
      return [...problems, tell(['realization'], 'dangling-mutation', message)];
    }
    return [
      ...problems,
      ...entry.edits.flatMap(({ find }, at) => {
        const count = text.split(find).length - 1;
        if (count === 1) return [];
        const message = `${entry.realization} holds this text ${count} times, expected once`;
        return [tell(['edits', at, 'find'], 'dangling-mutation', message)];
      }),
    ];
  });
}

function textOf({ contract }: LoadedContract, { realization }: SabotageEntry): string | undefined {
  if (realization === contract.header.name) return contract.header.text;
  return contract.realizations.find(({ file }) => file === realization)?.text;
}
