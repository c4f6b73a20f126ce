import type { Catalog } from '../../model/catalog.ts';
import type { Contract } from '../../model/contract.ts';
import type { CoverageMatrix, CoverageState } from '../../model/coverage.ts';
import type { CellChange, ContractChange, KnowledgeDiff } from '../../model/knowledge-diff.ts';
import { compareBytes } from '../read-tree.ts';
import { coverKnowledge } from './cover-knowledge.ts';
import type { KnowledgeView } from './knowledge-view.ts';
import { predictEffect } from './predict-effect.ts';

/** Pure: what is new, gone or other in `after`, contract by contract and cell by cell. */
export function diffKnowledge(before: KnowledgeView, after: KnowledgeView): KnowledgeDiff {
  const contracts = diffContracts(before.catalog, after.catalog);
  const facts = diffFacts(before.catalog, after.catalog);
  const cells = diffCells(coverKnowledge(before), coverKnowledge(after));
  return { contracts, facts, cells, effect: predictEffect({ contracts, facts, cells }) };
}

function diffContracts(before: Catalog, after: Catalog): ContractChange[] {
  const byId = ({ contracts }: Catalog) => new Map(contracts.map((entry) => [entry.frontMatter.id, entry]));
  const [old, fresh] = [byId(before), byId(after)];
  const ids = [...new Set([...old.keys(), ...fresh.keys()])].sort(compareBytes);
  return ids.flatMap((contract): ContractChange[] => {
    const [a, b] = [old.get(contract), fresh.get(contract)];
    const versions = { from: a?.frontMatter.version ?? null, to: b?.frontMatter.version ?? null };
    if (a === undefined || b === undefined)
      return [{ contract, change: a === undefined ? 'added' : 'removed', ...versions, parts: [] }];
    const parts = diffParts(a, b);
    return parts.length === 0 ? [] : [{ contract, change: 'changed', ...versions, parts }];
  });
}

function diffParts(a: Contract, b: Contract): string[] {
  const isOther = (pick: (contract: Contract) => unknown) =>
    JSON.stringify(pick(a)) !== JSON.stringify(pick(b));
  const parts: readonly (readonly [string, (contract: Contract) => unknown])[] = [
    ['text', ({ sha256 }) => sha256],
    ['header', ({ header }) => header.sha256],
    ['gate', ({ gateSha256 }) => gateSha256],
    ['shim', ({ shim }) => shim?.sha256],
    ['reference', ({ referenceSha256 }) => referenceSha256],
    ['evidence', ({ evidence }) => evidence],
  ];
  return [...parts.flatMap(([name, pick]) => (isOther(pick) ? [name] : [])), ...diffRealizations(a, b)];
}

function diffRealizations(a: Contract, b: Contract): string[] {
  const hashes = ({ realizations }: Contract) =>
    new Map(realizations.map(({ file, sha256 }) => [file, sha256]));
  return compareKeys(hashes(a), hashes(b)).map(({ key, change }) => `${key} ${change}`);
}

function compareKeys(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): { readonly key: string; readonly change: 'added' | 'removed' | 'changed' }[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort(compareBytes).flatMap((key) => {
    const [a, b] = [before.get(key), after.get(key)];
    if (a === b) return [];
    return [{ key, change: a === undefined ? 'added' : b === undefined ? 'removed' : 'changed' }];
  });
}

function diffFacts(before: Catalog, after: Catalog): string[] {
  const kinds: readonly (readonly [string, (catalog: Catalog) => readonly (readonly [string, unknown])[]])[] =
    [
      ['family', ({ families }) => families.map((facts) => [facts.family, facts])],
      ['model', ({ models }) => models.map((model) => [model.id, model])],
      ['platform', ({ platforms }) => platforms.map((platform) => [platform.id, platform])],
      ['failure mode', ({ failureModes }) => failureModes.map((mode) => [mode.frontMatter.id, mode])],
    ];
  return kinds.flatMap(([kind, list]) => {
    const texts = (catalog: Catalog) =>
      new Map(list(catalog).map(([id, value]) => [id, JSON.stringify(value)]));
    return compareKeys(texts(before), texts(after)).map(({ key, change }) => `${kind} ${key} ${change}`);
  });
}

function diffCells(before: CoverageMatrix, after: CoverageMatrix): CellChange[] {
  const states = ({ rows }: CoverageMatrix) =>
    new Map(
      rows.flatMap(({ name, cells }) =>
        cells.map(
          ({ platform, weights, state }) => [JSON.stringify([name, platform, weights]), state] as const,
        ),
      ),
    );
  const [old, fresh] = [states(before), states(after)];
  return compareKeys(old, fresh).map(({ key }) => {
    const [row, platform, weights] = JSON.parse(key) as [string, string, string];
    const state = (map: ReadonlyMap<string, CoverageState>) => map.get(key) ?? null;
    return { row, platform, weights, from: state(old), to: state(fresh) };
  });
}
