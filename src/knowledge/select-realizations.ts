import type { Catalog, SelectedContract, Selection } from '../model/catalog.ts';
import type { Contract, Realization } from '../model/contract.ts';
import { findIncludes } from '../model/cpp-tokens.ts';
import { allowedValues, firstMismatch, type Target, type TargetKey, targetKeys } from '../model/target.ts';
import { compareBytes } from './read-tree.ts';

/** Every engine is what these two need: a process that the harness can drive, and one that a person can run. */
const rootIds = ['harness.protocol', 'interface.cli'] as const;

interface Choice {
  readonly realization?: Realization;
  readonly status: SelectedContract['status'];
  readonly reason: string;
}

/**
 * Which contracts the target needs, in dependency order, and what fills each. The choice is by applicability, then
 * by evidence on the target's platform, then by file name: the same inputs always give the same answer.
 */
export function selectRealizations(catalog: Catalog, target: Target): Selection {
  const byId = new Map(catalog.contracts.map((contract) => [contract.frontMatter.id, contract]));
  const replacedBy = findReplacements(byId, target);
  const chosen = new Map<string, SelectedContract>();
  const next = new Map<string, readonly string[]>();
  const missing: string[] = [];
  const open: { readonly id: string; readonly from: string }[] = rootIds.map((id) => ({
    id,
    from: 'every engine',
  }));
  for (let entry = open.shift(); entry !== undefined; entry = open.shift()) {
    const { id, from } = entry;
    if (next.has(id)) continue;
    next.set(id, []);
    const contract = byId.get(id);
    if (contract === undefined) {
      missing.push(`${id}: there is no such contract; ${from} needs it`);
      continue;
    }
    const choice = choose(contract, target, replacedBy.get(id));
    if (choice.status === 'missing') missing.push(choice.reason);
    chosen.set(id, {
      contract,
      realization: choice.realization,
      status: choice.status,
      reason: choice.reason,
    });
    const required = requirementsOf(contract, choice, byId);
    next.set(id, required);
    open.push(...required.map((requiredId) => ({ id: requiredId, from: id })));
  }
  const contracts = orderByDependency(next).flatMap((id) => chosen.get(id) ?? []);
  return { target, contracts, missing };
}

function choose(contract: Contract, target: Target, replacedBy: string | undefined): Choice {
  const { id, applies_when: appliesWhen, provides } = contract.frontMatter;
  const mismatch = firstMismatch(appliesWhen, target);
  if (mismatch !== undefined) {
    const covered = allowedValues(appliesWhen, mismatch)?.join(', ');
    return {
      status: 'missing',
      reason: `${id}: does not cover ${mismatch} = ${target[mismatch]}; it covers ${covered}`,
    };
  }
  if (provides.header_only === true)
    return { status: 'header-only', reason: 'The header is the whole contract.' };
  if (replacedBy !== undefined)
    return { status: 'replaced', reason: `Filled by the realization of ${replacedBy}.` };
  return chooseRealization(contract, target);
}

function chooseRealization(contract: Contract, target: Target): Choice {
  const applicable = contract.realizations.filter(
    (entry) => firstMismatch(entry.applies, target) === undefined,
  );
  const platform = target['hardware.platform'];
  const ranked = applicable
    .map((realization) => ({ realization, evidence: countEvidence(contract, realization, target) }))
    .sort((a, b) => b.evidence - a.evidence || compareBytes(a.realization.file, b.realization.file));
  const best = ranked[0];
  if (best === undefined) return { status: 'missing', reason: explainMissing(contract, target) };
  const { realization, evidence } = best;
  const second = ranked[1];
  const reason =
    second === undefined
      ? `${realization.file} is the only realization that applies.`
      : evidence > second.evidence
        ? `${realization.file} has ${evidence} verified run(s) on ${platform}, more than the ${ranked.length - 1} other(s) that apply.`
        : `${realization.file} is the first by name of ${ranked.length} that apply with equal evidence.`;
  return { realization, status: 'realization', reason };
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

/** Contract id → the contract whose chosen realization also fills it. */
function findReplacements(byId: ReadonlyMap<string, Contract>, target: Target): Map<string, string> {
  const replacedBy = new Map<string, string>();
  for (const [id, contract] of byId) {
    if (replacedBy.has(id) || firstMismatch(contract.frontMatter.applies_when, target) !== undefined)
      continue;
    for (const replaced of chooseRealization(contract, target).realization?.replaces ?? [])
      replacedBy.set(replaced, id);
  }
  return replacedBy;
}

function requirementsOf(contract: Contract, choice: Choice, byId: ReadonlyMap<string, Contract>): string[] {
  const { requires } = contract.frontMatter;
  if (choice.status !== 'replaced') return sorted([...requires, ...(choice.realization?.requires ?? [])]);
  // Only the header of a replaced contract stays in the engine, so only what that header includes is needed.
  const included = new Set(findIncludes(contract.header.text).map((include) => include.written.slice(1, -1)));
  return sorted(requires.filter((id) => included.has(byId.get(id)?.header.name ?? '')));
}

function sorted(ids: readonly string[]): string[] {
  return [...new Set(ids)].sort(compareBytes);
}

/** What is required comes first; among those that are ready, the smallest id. */
function orderByDependency(next: ReadonlyMap<string, readonly string[]>): string[] {
  const order: string[] = [];
  const waiting = new Set(sorted([...next.keys()]));
  while (waiting.size > 0) {
    const ready = [...waiting].find((id) => (next.get(id) ?? []).every((required) => !waiting.has(required)));
    // The loader refuses cycles; a catalog made by hand still ends.
    const id = ready ?? [...waiting][0];
    if (id === undefined) break;
    waiting.delete(id);
    order.push(id);
  }
  return order;
}
