import type { Contract, Realization } from '../../model/contract.ts';
import type { ContractAccount, RealizationAccount } from '../../model/contract-account.ts';
import type { CoverageMatrix } from '../../model/coverage.ts';
import { allowedValues, type Predicate, targetKeys } from '../../model/target.ts';
import { graphContracts } from './graph-contracts.ts';
import type { KnowledgeView } from './knowledge-view.ts';

/** Undefined where there is no such contract. Pure. */
export function explainContract(
  view: KnowledgeView,
  matrix: CoverageMatrix,
  id: string,
): ContractAccount | undefined {
  const contract = view.catalog.contracts.find(({ frontMatter }) => frontMatter.id === id);
  if (contract === undefined) return undefined;
  const { frontMatter, folder, gate } = contract;
  const { version, layer, summary, provides, requires, gates, invariants, sources } = frontMatter;
  const realizations = contract.realizations.map((entry) => toAccount(entry, id, matrix));
  return {
    ...{ id, version, layer, summary, requires, gates, realizations, sources },
    folder: `knowledge/contracts/${folder}`,
    appliesWhen: describePredicate(frontMatter.applies_when),
    isHeaderOnly: provides.header_only === true,
    signatures: provides.symbols.map(({ signature }) => signature),
    requiredBy: graphContracts(view, matrix)
      .edges.filter(({ to }) => to === id)
      .map(({ from, by }) => ({ contract: from, by })),
    unitCases: gate?.cases.length ?? null,
    invariants: invariants.map((entry) => ({ id: entry.id, says: entry.says, gate: entry.gate })),
    failureModes: view.catalog.failureModes
      .filter((mode) => isOf(mode, contract))
      .map(({ frontMatter: { id: name, title, symptom } }) => ({ id: name, title, symptom })),
    gaps: findGaps(contract, realizations, matrix),
  };
}

function isOf(
  { slug, frontMatter }: KnowledgeView['catalog']['failureModes'][number],
  { frontMatter: { id, failure_modes: named } }: Contract,
): boolean {
  return named.includes(frontMatter.id) || named.includes(slug) || frontMatter.contracts.includes(id);
}

export function describePredicate(predicate: Predicate): string[] {
  return targetKeys.flatMap((key) => {
    const allowed = allowedValues(predicate, key);
    return allowed === undefined ? [] : [`${key} = ${allowed.join(' or ')}`];
  });
}

function toAccount(
  { file, applies, requires, replaces, fuses }: Realization,
  id: string,
  { parts }: CoverageMatrix,
): RealizationAccount {
  const evidence = Object.values(parts).filter((part) => part.contract === id && part.realization === file);
  return { file, applies: describePredicate(applies), requires, replaces, fuses, evidence };
}

function findGaps(
  contract: Contract,
  realizations: readonly RealizationAccount[],
  matrix: CoverageMatrix,
): string[] {
  const isHeaderOnly = contract.frontMatter.provides.header_only === true;
  const unproven = realizations.flatMap(({ file, evidence }) => {
    const open = [...new Set(evidence.map(({ platform }) => platform))].filter(
      (platform) => !evidence.some((part) => part.platform === platform && part.state === 'repeatable'),
    );
    return open.map((platform) => `${file} has no run on ${platform} that can be repeated.`);
  });
  const unused = realizations
    .filter(({ evidence }) => evidence.length === 0)
    .map(({ file }) => `${file} is part of no engine that the matrix shows.`);
  const gate =
    isHeaderOnly || contract.gate !== undefined ? [] : ['It has no unit gate: whole engines alone check it.'];
  return [...countOpen(contract.frontMatter.id, matrix), ...unproven, ...unused, ...gate];
}

/** Cells of the matrix that wait for this contract, by what is missing. */
function countOpen(id: string, { rows }: CoverageMatrix): string[] {
  const counts = new Map<string, number>();
  for (const { contract, reason } of rows.flatMap(({ cells }) => cells.flatMap(({ open }) => open))) {
    if (contract === id) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, cells]) => {
    const what = reason.startsWith(`${id}: `) ? reason.slice(id.length + 2) : reason;
    return `In ${cells === 1 ? 'one cell' : `${cells} cells`} of the matrix: ${what.replace(/\.$/, '')}.`;
  });
}
