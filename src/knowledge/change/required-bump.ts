import type { ContractFrontMatter } from '../../model/contract.ts';
import { findIncludes } from '../../model/cpp-tokens.ts';
import { allowedValues, targetKeys } from '../../model/target.ts';
import { symbolName } from '../check-contract.ts';
import type { LoadedContract } from '../contract-folder.ts';
import { headerOfFolder } from '../contract-folder.ts';
import { listItems, listSections } from '../contract-sections.ts';
import { listDeclarations } from './header-declarations.ts';

export type BumpLevel = 'none' | 'patch' | 'minor' | 'major';
export const bumpLevels: readonly BumpLevel[] = ['none', 'patch', 'minor', 'major'];

export interface RequiredBump {
  readonly level: BumpLevel;
  /** What changed at that level, a few words each. */
  readonly because: readonly string[];
}

/** A contract with the text of its contract.md. */
export interface ContractText {
  readonly loaded: LoadedContract;
  readonly page: string;
}

/**
 * How far the version of a contract must rise (semver): whoever includes the header or was checked against the contract
 * breaks = major; what it demands became sharper or wider = minor; the same in other words = patch.
 */
export function requiredBump(before: ContractText, after: ContractText): RequiredBump {
  const changes = [
    ...compareHeaders(before, after),
    ...compareSymbols(before, after),
    ...compareReach(before, after),
    ...compareDemands(before, after),
    ...compareText(before, after),
  ];
  const level = bumpLevels.findLast((name) => changes.some((change) => change.level === name)) ?? 'none';
  return {
    level,
    because: changes.filter((change) => change.level === level).map((change) => change.what),
  };
}

interface Change {
  readonly level: BumpLevel;
  readonly what: string;
}

function compareHeaders({ loaded: before }: ContractText, { loaded: after }: ContractText): Change[] {
  const [old, fresh] = [before.contract.header, after.contract.header];
  if (old.sha256 === fresh.sha256) return [];
  const [was, is] = [listDeclarations(old.text), listDeclarations(fresh.text)];
  const gone = [...was].filter((declaration) => !is.has(declaration));
  const added = [...is].filter((declaration) => !was.has(declaration));
  if (gone.length > 0)
    return [{ level: 'major', what: `${old.name} no longer declares ${shorten(gone[0]!)}` }];
  if (added.length > 0) return [{ level: 'minor', what: `${old.name} also declares ${shorten(added[0]!)}` }];
  return [{ level: 'patch', what: `${old.name} reads otherwise` }];
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

type Symbol = ContractFrontMatter['provides']['symbols'][number];

function compareSymbols({ loaded: before }: ContractText, { loaded: after }: ContractText): Change[] {
  const [was, is] = [symbolsOf(before), symbolsOf(after)];
  const removed = [...was.keys()].filter((name) => !is.has(name));
  const added = [...is.keys()].filter((name) => !was.has(name));
  return [
    ...removed.map((name): Change => ({ level: 'major', what: `${name} is gone` })),
    ...added.map((name): Change => ({ level: 'minor', what: `${name} is new` })),
    ...[...was].flatMap(([name, old]) => {
      const fresh = is.get(name);
      return fresh === undefined ? [] : compareSymbol(name, old, fresh);
    }),
  ];
}

function symbolsOf({ contract }: LoadedContract): Map<string, Symbol> {
  return new Map(
    contract.frontMatter.provides.symbols.map((symbol) => [symbolName(symbol.signature), symbol]),
  );
}

function compareSymbol(name: string, old: Symbol, fresh: Symbol): Change[] {
  const rules: readonly (readonly [keyof Symbol, BumpLevel])[] = [
    ['signature', 'major'],
    ['shapes', 'major'],
    ['dtypes', 'major'],
    ['layout', 'major'],
    ['aliasing', 'minor'],
    ['threads', 'minor'],
    ['errors', 'minor'],
  ];
  return rules.flatMap(([key, level]) => {
    const [was, is] = [plain(old[key]), plain(fresh[key])];
    if (was === is) return [];
    // What nobody had said before breaks nobody who was right.
    const isStatedFirst = old[key] === undefined;
    return [{ level: isStatedFirst ? 'minor' : level, what: `${key} of ${name}` }];
  });
}

/** Without differences of white space. */
function plain(value: unknown): string {
  return (JSON.stringify(value) ?? '').replace(/\s+|\\n/g, ' ').replace(/;(?="$)/, '');
}

function compareReach({ loaded: before }: ContractText, { loaded: after }: ContractText): Change[] {
  const [old, fresh] = [before.contract.frontMatter, after.contract.frontMatter];
  const included = new Set(
    findIncludes(before.contract.header.text).map(({ written }) => written.slice(1, -1)),
  );
  const dropped = old.requires.filter((id) => !fresh.requires.includes(id));
  const narrowed = targetKeys.filter((key) => {
    const [was, is] = [allowedValues(old.applies_when, key), allowedValues(fresh.applies_when, key)];
    return is !== undefined && (was === undefined || was.some((value) => !is.includes(value)));
  });
  return [
    ...dropped.map((id): Change => {
      const isIncluded = included.has(headerOfFolder(id.replace('.', '-')));
      return { level: isIncluded ? 'major' : 'minor', what: `${id} is no longer required` };
    }),
    ...narrowed.map((key): Change => ({ level: 'major', what: `applies_when.${key} is narrower` })),
    ...differs(old.applies_when, fresh.applies_when, 'minor', 'applies_when'),
    ...differs(old.requires, fresh.requires, 'minor', 'requires'),
  ];
}

function differs(was: unknown, is: unknown, level: BumpLevel, what: string): Change[] {
  return plain(was) === plain(is) ? [] : [{ level, what }];
}

function compareDemands({ loaded: before }: ContractText, { loaded: after }: ContractText): Change[] {
  const [old, fresh] = [before.contract.frontMatter, after.contract.frontMatter];
  return [
    ...differs(old.invariants, fresh.invariants, 'minor', 'invariants'),
    ...differs(old.numerics, fresh.numerics, 'minor', 'numerics'),
    ...differs(old.config, fresh.config, 'minor', 'config'),
    ...differs(old.gates, fresh.gates, 'minor', 'gates'),
    ...differs(before.contract.gate, after.contract.gate, 'minor', 'gate.yaml'),
  ];
}

/** Sections that explain and demand nothing. */
const explaining = /^(?:example|cost|what people get wrong)/i;

function compareText(before: ContractText, after: ContractText): Change[] {
  if (withoutVersion(before.page) === withoutVersion(after.page)) return [];
  const [was, is] = [demandsOf(before.page), demandsOf(after.page)];
  const titles = [...new Set([...was.keys(), ...is.keys()])];
  return [
    ...titles
      .filter((title) => was.get(title) !== is.get(title))
      .map((title): Change => ({ level: 'minor', what: `the section ${title}` })),
    { level: 'patch', what: 'wording' },
  ];
}

function withoutVersion(page: string): string {
  return page.replace(/^version:.*$/m, '');
}

/**
 * Of each demanding section what is no mere wording: steps and edges as a whole, of prose its formulas, numbers and
 * names. White space is none of it.
 */
function demandsOf(page: string): Map<string, string> {
  const demanding = listSections(page).filter(({ title }) => !explaining.test(title));
  return new Map(
    demanding.map(({ title, text }) => {
      if (/^edges/i.test(title)) return [title, listItems(text).map(squeeze).sort().join(' · ')];
      return [title, /^steps/i.test(title) ? squeeze(text) : statedParts(text)];
    }),
  );
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Fenced blocks, code spans and numbers, in order. */
function statedParts(text: string): string {
  const parts = text.match(/```[\s\S]*?```|`[^`\n]+`|[−-]?\d[\d.,]*(?:e[−-]?\d+)?/g) ?? [];
  return parts.map(squeeze).join(' ');
}
