import { findIncludes } from '../model/cpp-tokens.ts';
import { namedGates } from '../model/failure-mode.ts';
import type { Problem } from '../model/problem.ts';
import { canOverlap } from '../model/target.ts';
import { symbolName } from './check-contract.ts';
import { checkStandIn } from './check-stand-in.ts';
import type { LoadedContract } from './contract-folder.ts';
import type { LoadedFailureMode } from './failure-mode-file.ts';
import { compareBytes } from './read-tree.ts';

type ById = ReadonlyMap<string, LoadedContract>;

/** What must hold between contracts, and between contracts and failure modes. */
export function checkReferences(
  contracts: readonly LoadedContract[],
  failureModes: readonly LoadedFailureMode[],
): Problem[] {
  const byId: ById = new Map(contracts.map((entry) => [entry.contract.frontMatter.id, entry]));
  const modeNames = new Set(failureModes.flatMap((mode) => [mode.frontMatter.id, mode.slug]));
  return [
    ...contracts.flatMap((entry) => [
      ...checkRequired(entry, byId),
      ...checkFailureModeNames(entry, modeNames),
      ...checkIncludes(entry, byId),
      ...checkEvidence(entry),
      ...checkStandIn(entry, byId),
    ]),
    ...checkClaims(contracts),
    ...checkCycles(byId),
    ...failureModes.flatMap((mode) => checkFailureMode(mode, byId)),
  ];
}

function pageOf(entry: LoadedContract): string {
  return `contracts/${entry.contract.folder}/contract.md`;
}

function checkRequired(entry: LoadedContract, byId: ById): Problem[] {
  const { contract } = entry;
  const own = contract.frontMatter.id;
  const fromPage = contract.frontMatter.requires.flatMap((id, index): Problem[] => {
    if (byId.has(id) && id !== own) return [];
    const message = id === own ? 'a contract cannot require itself' : `there is no contract ${id}`;
    const path = ['requires', index];
    return [
      {
        severity: 'error',
        code: 'dangling-requires',
        file: pageOf(entry),
        ...entry.yaml.locate(path),
        path: path.join('.'),
        message,
      },
    ];
  });
  const fromRealizations = contract.realizations.flatMap((realization) =>
    [...realization.requires, ...realization.replaces, ...realization.fuses]
      .filter((id) => !byId.has(id) || id === own)
      .map((id): Problem => {
        const file = `contracts/${contract.folder}/realizations/${realization.file}`;
        const message =
          id === own
            ? 'a realization cannot require, replace or fuse its own contract'
            : `there is no contract ${id}`;
        return { severity: 'error', code: 'dangling-requires', file, line: 1, message };
      }),
  );
  return [...fromPage, ...fromRealizations];
}

function checkFailureModeNames(entry: LoadedContract, known: ReadonlySet<string>): Problem[] {
  return entry.contract.frontMatter.failure_modes.flatMap((name, index): Problem[] => {
    if (known.has(name)) return [];
    const path = ['failure_modes', index];
    const message = `there is no failure mode ${name} in failure-modes/`;
    return [
      {
        severity: 'error',
        code: 'dangling-failure-mode',
        file: pageOf(entry),
        ...entry.yaml.locate(path),
        path: path.join('.'),
        message,
      },
    ];
  });
}

function checkFailureMode(mode: LoadedFailureMode, byId: ById): Problem[] {
  const file = `failure-modes/${mode.slug}.md`;
  const problems: Problem[] = [];
  for (const [index, id] of mode.frontMatter.contracts.entries()) {
    if (!byId.has(id))
      problems.push({
        severity: 'error',
        code: 'dangling-contract',
        file,
        ...mode.locate(['contracts', index]),
        path: 'contracts',
        message: `there is no contract ${id}`,
      });
  }
  for (const [index, gate] of mode.frontMatter.gates.entries()) {
    const [id, caseId] = gate.split('#');
    const isCase = byId.get(id ?? '')?.contract.gate?.cases.some((entry) => entry.id === caseId) === true;
    if (isCase || namedGates.includes(gate)) continue;
    const message = `there is no gate ${gate}; expected <contract id>#<case id> or one of ${namedGates.join(', ')}`;
    const place = mode.locate(['gates', index]);
    problems.push({ severity: 'error', code: 'dangling-gate', file, ...place, path: 'gates', message });
  }
  return problems;
}

/** A project header may be included only where a required contract provides it. */
function checkIncludes(entry: LoadedContract, byId: ById): Problem[] {
  const { contract } = entry;
  const root = `contracts/${contract.folder}`;
  const headersOf = (ids: readonly string[]) =>
    new Set([...reach(ids, byId)].flatMap((id) => byId.get(id)?.contract.header.name ?? []));
  const required = headersOf(contract.frontMatter.requires);
  const texts = [
    { file: `${root}/${contract.header.name}`, text: contract.header.text, allowed: required },
    ...contract.realizations.map((realization) => ({
      file: `${root}/realizations/${realization.file}`,
      text: realization.text,
      allowed: new Set([...required, ...headersOf(realization.requires)]),
    })),
  ];
  const included = includesOf(entry, texts);
  return texts.flatMap(({ file, allowed }, index) =>
    (included[index] ?? [])
      .filter(({ name }) => name !== 'config.h' && name !== contract.header.name && !allowed.has(name))
      .map(({ name, line }): Problem => {
        const message = `includes ${name}, which no required contract provides`;
        return { severity: 'error', code: 'include-not-required', file, line, message };
      }),
  );
}

type Includes = readonly { readonly name: string; readonly line: number }[];
const known = new WeakMap<LoadedContract, readonly Includes[]>();

/** Project headers that each text of a contract includes. */
function includesOf(entry: LoadedContract, texts: readonly { readonly text: string }[]): readonly Includes[] {
  const included =
    known.get(entry) ??
    texts.map(({ text }) =>
      findIncludes(text)
        .filter((include) => include.written.startsWith('"'))
        .map((include) => ({ name: include.written.slice(1, -1), line: include.line })),
    );
  known.set(entry, included);
  return included;
}

function reach(ids: readonly string[], byId: ById): Set<string> {
  const seen = new Set<string>();
  const open = [...ids];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...(byId.get(id)?.contract.frontMatter.requires ?? []));
  }
  return seen;
}

/** Two contracts that can stand in one engine may not claim the same header or symbol. */
function checkClaims(contracts: readonly LoadedContract[]): Problem[] {
  const claims = new Map<string, LoadedContract[]>();
  for (const entry of contracts) {
    const { provides } = entry.contract.frontMatter;
    const names = new Set([
      provides.header,
      ...provides.symbols.map((symbol) => symbolName(symbol.signature)),
    ]);
    for (const name of names) claims.set(name, [...(claims.get(name) ?? []), entry]);
  }
  return [...claims].flatMap(([name, owners]) =>
    owners.slice(1).flatMap((entry, index): Problem[] => {
      const rival = owners.slice(0, index + 1).find((other) => {
        const [a, b] = [other.contract.frontMatter, entry.contract.frontMatter];
        if (a.stands_for === b.id || b.stands_for === a.id) return false;
        return canOverlap(a.applies_when, b.applies_when);
      });
      if (rival === undefined) return [];
      const message = `${name} is also claimed by ${rival.contract.frontMatter.id}; an interface belongs to one contract`;
      return [
        {
          severity: 'error',
          code: 'interface-claimed-twice',
          file: pageOf(entry),
          ...entry.yaml.locate(['provides']),
          path: 'provides',
          message,
        },
      ];
    }),
  );
}

/** Every cycle once, reported at its first contract by name. */
function checkCycles(byId: ById): Problem[] {
  const done = new Set<string>();
  const problems: Problem[] = [];
  const visit = (id: string, trail: readonly string[]): void => {
    const start = trail.indexOf(id);
    if (start >= 0) {
      const entry = byId.get(id);
      const cycle = [...trail.slice(start), id].join(' → ');
      if (entry !== undefined) {
        problems.push({
          severity: 'error',
          code: 'cycle',
          file: pageOf(entry),
          ...entry.yaml.locate(['requires']),
          path: 'requires',
          message: `the contracts require each other in a circle: ${cycle}`,
        });
      }
      return;
    }
    if (done.has(id)) return;
    const contract = byId.get(id)?.contract;
    const next = [
      ...(contract?.frontMatter.requires ?? []),
      ...(contract?.realizations.flatMap((entry) => entry.requires) ?? []),
    ];
    for (const required of [...new Set(next)].sort(compareBytes)) visit(required, [...trail, id]);
    done.add(id);
  };
  for (const id of [...byId.keys()].sort(compareBytes)) visit(id, []);
  return problems;
}

function checkEvidence(entry: LoadedContract): Problem[] {
  const { contract } = entry;
  const file = `contracts/${contract.folder}/evidence.yaml`;
  return contract.evidence.flatMap((evidence, index): Problem[] => {
    if (contract.realizations.some((realization) => realization.file === evidence.realization)) return [];
    const message = `there is no realization ${evidence.realization}`;
    const place = entry.evidenceYaml?.locate([index, 'realization']);
    return [{ severity: 'error', code: 'dangling-evidence', file, ...place, message }];
  });
}
