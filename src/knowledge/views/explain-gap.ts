import type { Catalog, SelectedContract } from '../../model/catalog.ts';
import type { Contract, Realization } from '../../model/contract.ts';
import type { GapPart, KnowledgeGap } from '../../model/knowledge-gap.ts';
import { allowedValues, firstMismatch, type Target, type TargetKey, targetKeys } from '../../model/target.ts';
import { selectRealizations } from '../select-realizations.ts';
import { findSimilar } from './find-similar.ts';

interface Part extends GapPart {
  readonly write: string;
}

/**
 * What is missing for a target, agents apart: knowledge alone is to cover it. Nothing below a contract that does not
 * cover the target is asked for, since whoever covers it decides what it needs. Pure; all empty where it is covered.
 */
export function explainGap(catalog: Catalog, target: Target): KnowledgeGap {
  const { contracts, missing } = selectRealizations(catalog, target);
  if (missing.length === 0) return { missing: [], smallest: [], similar: [], write: [] };
  const parts = findTopmost(catalog, target, contracts);
  return {
    missing: missing.map((reason) => ({ contract: reason.split(':')[0] ?? reason, reason })),
    smallest: parts.map(({ contract, need, says }) => ({ contract, need, says })),
    similar: findSimilar(catalog, target),
    write: [...platformFile(catalog, target), ...new Set(parts.map(({ write }) => write))],
  };
}

function platformFile({ platforms }: Catalog, target: Target): string[] {
  const platform = String(target['hardware.platform']);
  if (platforms.some(({ id }) => id === platform)) return [];
  return [`\`knowledge/platforms/${platform}.yaml\`: its compilers, flags and archs`];
}

function findTopmost(catalog: Catalog, target: Target, contracts: readonly SelectedContract[]): Part[] {
  const byId = new Map(contracts.map((entry) => [entry.contract.frontMatter.id, entry]));
  const required = new Set(contracts.flatMap(({ requires }) => requires));
  const open = [...byId.keys()].filter((id) => !required.has(id));
  const seen = new Set<string>();
  const parts: Part[] = [];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const entry = byId.get(id);
    const part = entry === undefined ? absent(id) : partOf(catalog, entry, target);
    if (part !== undefined) parts.push(part);
    const isBlocked = part !== undefined && part.need !== 'realization';
    if (!isBlocked) open.push(...(entry?.requires ?? []));
  }
  const order = [...byId.keys()];
  return parts.sort((a, b) => order.indexOf(a.contract) - order.indexOf(b.contract));
}

function absent(id: string): Part {
  const write = `\`npx metainfer knowledge new ${id}\`, then what its skeleton asks for`;
  return { contract: id, need: 'new contract', says: `a contract ${id}`, write };
}

function partOf(catalog: Catalog, { contract, status }: SelectedContract, target: Target): Part | undefined {
  if (status !== 'missing') return undefined;
  const key = firstMismatch(contract.frontMatter.applies_when, target);
  return key === undefined ? asRealization(contract, target) : asWider(catalog, contract, key, target);
}

/** An interface that fits the value may be a new version of this one or one of its own: the contributor knows. */
function asWider({ contracts }: Catalog, { frontMatter }: Contract, key: TargetKey, target: Target): Part {
  const { id } = frontMatter;
  const value = String(target[key]);
  const own = `${id.split('.')[0]}.${value.replaceAll(/[^a-z0-9]+/g, '-')}`;
  const isFree =
    !contracts.some((contract) => contract.frontMatter.id === own) && /^[a-z0-9-]+\.[a-z0-9-]+$/.test(own);
  const users = contracts
    .filter((contract) => contract.frontMatter.requires.includes(id))
    .map((contract) => contract.frontMatter.id);
  const says = `${id} for ${key} = ${value}, or a contract of its own in its place`;
  const wider = `a version of ${id} whose applies_when has \`${key}: ${value}\``;
  const write = isFree
    ? `${wider}, or \`npx metainfer knowledge new ${own}\`${users.length === 0 ? '' : ` and a realization of ${users.join(' and of ')} that requires it`}`
    : wider;
  return { contract: id, need: 'wider contract', says, write };
}

function asRealization(contract: Contract, target: Target): Part {
  const { id } = contract.frontMatter;
  const says = `a realization of ${id}`;
  const portable = contract.realizations.find((entry) => isAllButPlatform(entry, target));
  if (portable !== undefined) {
    const file = `knowledge/contracts/${contract.folder}/realizations/${portable.file}`;
    const write = `\`${target['hardware.platform']}\` in the \`applies\` line of \`${file}\`, where its gates are green there`;
    return { contract: id, need: 'realization', says, write };
  }
  const { file, applies } = newRealization(contract, target);
  const write = `\`knowledge/contracts/${contract.folder}/realizations/${file}\` with the line \`// applies: ${applies}\``;
  return { contract: id, need: 'realization', says, write };
}

/** Serves several platforms already, and nothing but the platform keeps it from this target. */
function isAllButPlatform({ applies }: Realization, target: Target): boolean {
  const platforms = allowedValues(applies, 'hardware.platform') ?? [];
  const here = { ...target, 'hardware.platform': platforms[0] ?? target['hardware.platform'] };
  return platforms.length > 1 && firstMismatch(applies, here) === undefined;
}

/** What the realizations that are there are told apart by is what a new one has to say. */
function newRealization({ realizations }: Contract, target: Target): { file: string; applies: string } {
  const platform = String(target['hardware.platform']);
  const valuesOf = (key: TargetKey) =>
    realizations.flatMap(({ applies }) => allowedValues(applies, key) ?? []);
  const keys = targetKeys.filter((key) => key !== 'hardware.platform' && valuesOf(key).length > 0);
  const names = keys
    .filter((key) => new Set([...valuesOf(key), target[key]]).size > 1 && typeof target[key] === 'string')
    .map((key) => String(target[key]));
  const ending = platform === 'cuda' ? 'cu' : 'cpp';
  return {
    file: `${[platform, ...names].join('-').replaceAll(/[^a-z0-9_-]/g, '-')}.${ending}`,
    applies: [`hardware.platform=${platform}`, ...keys.map((key) => `${key}=${target[key]}`)].join(', '),
  };
}
