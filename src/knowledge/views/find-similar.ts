import type { Catalog } from '../../model/catalog.ts';
import { coveredWeightFormats, platforms } from '../../model/constraints.ts';
import type { KnowledgeGap } from '../../model/knowledge-gap.ts';
import { type Target, type TargetKey, targetKeys } from '../../model/target.ts';
import { selectRealizations } from '../select-realizations.ts';
import { representativeRows } from './representative-rows.ts';

const mostSimilar = 3;

/** Targets that a constraint file may ask for and that knowledge covers, fewest differing values of `keys` first. Pure. */
export function findSimilar(
  catalog: Catalog,
  target: Target,
  keys: readonly TargetKey[] = targetKeys,
): KnowledgeGap['similar'] {
  const asked = target['hardware.platform'];
  const candidates = representativeRows(catalog).flatMap((row) =>
    catalog.platforms
      .filter(({ id }) => platforms.covered.some((covered) => covered === id))
      .flatMap(({ id, archs }) =>
        coveredWeightFormats(id).map((weights) => {
          const arch = id === asked ? target['hardware.arch'] : (Object.keys(archs)[0] ?? '');
          return {
            ...{ name: row.name, models: row.models },
            target: {
              ...row.target,
              'hardware.platform': id,
              'hardware.arch': arch,
              'numerics.weights': weights,
            },
          };
        }),
      ),
  );
  const ranked = candidates
    .map((candidate) => ({ ...candidate, differs: listDifferences(candidate.target, target, keys) }))
    .sort((a, b) => a.differs.length - b.differs.length || b.models.length - a.models.length);
  const similar: { name: string; differs: readonly string[] }[] = [];
  for (const { name, target: near, differs } of ranked) {
    if (similar.length === mostSimilar) break;
    if (selectRealizations(catalog, near).missing.length > 0) continue;
    const place = `${name} on ${near['hardware.platform']} in ${near['numerics.weights']}`;
    similar.push({ name: place, differs });
  }
  return similar;
}

/** Of the platform its arch is a part, not a difference of its own. */
function listDifferences(near: Target, target: Target, keys: readonly TargetKey[]): string[] {
  const isElsewhere = near['hardware.platform'] !== target['hardware.platform'];
  return keys
    .filter((key) => near[key] !== target[key] && !(isElsewhere && key === 'hardware.arch'))
    .map((key) => `${key} = ${near[key]}, not ${target[key]}`);
}
