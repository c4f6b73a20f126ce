import type { Contract, Realization } from '../model/contract.ts';
import { allowedValues, firstMismatch, type Target, type TargetKey, targetKeys } from '../model/target.ts';
import { compareBytes } from './read-tree.ts';

export type RealizationChoice =
  | { readonly realization: Realization; readonly reason: string }
  /** Nothing applies: what stands in the way. */
  | { readonly realization: undefined; readonly reason: string };

/**
 * The realization of a contract for a target: by applicability, then by evidence on the target's platform, then by file
 * name. One that also fills a contract of `taken`, which somebody else writes, is out.
 */
export function chooseRealization(
  contract: Contract,
  target: Target,
  taken: ReadonlySet<string> = new Set(),
): RealizationChoice {
  const applicable = contract.realizations.filter(
    (entry) =>
      firstMismatch(entry.applies, target) === undefined && !entry.replaces.some((id) => taken.has(id)),
  );
  const platform = target['hardware.platform'];
  const ranked = applicable
    .map((realization) => ({ realization, evidence: countEvidence(contract, realization, target) }))
    .sort((a, b) => b.evidence - a.evidence || compareBytes(a.realization.file, b.realization.file));
  const best = ranked[0];
  if (best === undefined) return { realization: undefined, reason: explainMissing(contract, target) };
  const { realization, evidence } = best;
  const second = ranked[1];
  const reason =
    second === undefined
      ? `${realization.file} is the only realization that applies.`
      : evidence > second.evidence
        ? `${realization.file} has ${evidence} verified run(s) on ${platform}, more than the ${ranked.length - 1} other(s) that apply.`
        : `${realization.file} is the first by name of ${ranked.length} that apply with equal evidence.`;
  return { realization, reason };
}

/** Runs of exactly this text on this platform. */
function countEvidence(contract: Contract, realization: Realization, target: Target): number {
  return contract.evidence.filter(
    (entry) =>
      entry.realization === realization.file &&
      entry.hashes.realization.replace('sha256:', '') === realization.sha256 &&
      allowedValues(entry.applies, 'hardware.platform')?.includes(target['hardware.platform']) === true,
  ).length;
}

/** Names the key that stands in the way of the realization that comes nearest. */
function explainMissing(contract: Contract, target: Target): string {
  const { id } = contract.frontMatter;
  const failing = contract.realizations.map((entry) => mismatches(entry, target));
  const nearest = [...failing].sort((a, b) => a.length - b.length)[0];
  const key = nearest?.[0];
  if (nearest === undefined || key === undefined) return `${id}: no realization at all`;
  const values = contract.realizations
    .filter(
      (entry) =>
        mismatches(entry, target).length === nearest.length && mismatches(entry, target).includes(key),
    )
    .flatMap((entry) => allowedValues(entry.applies, key) ?? []);
  return `${id}: no realization for ${key} = ${target[key]}; there is ${[...new Set(values)].sort().join(', ')}`;
}

function mismatches(realization: Realization, target: Target): TargetKey[] {
  return targetKeys.filter((key) => allowedValues(realization.applies, key)?.includes(target[key]) === false);
}
