import type { FamilyFacts, KnownModel, Platform } from '../../model/catalog.ts';
import type { Evidence, Realization } from '../../model/contract.ts';
import type { Problem } from '../../model/problem.ts';
import { SabotageFile } from '../../model/sabotage.ts';
import { type LoadedContract, loadContractFolder, readYamlFile } from '../contract-folder.ts';
import { type LoadedFailureMode, loadFailureModes } from '../failure-mode-file.ts';
import { loadModels } from '../model-file.ts';
import { loadPlatforms } from '../platform-file.ts';
import type { Tree, TreeFile } from '../read-tree.ts';
import type { YamlText } from '../yaml-text.ts';

export interface LoadedSabotage {
  readonly file: string;
  readonly value: SabotageFile;
  readonly locate: YamlText['locate'];
}

/** One side of a knowledge change, as far as it is readable: what is not stands among the problems of `checkTree`. */
export interface KnowledgeSide {
  readonly tree: Tree;
  /** By id. */
  readonly contracts: ReadonlyMap<string, LoadedContract>;
  readonly failureModes: readonly LoadedFailureMode[];
  readonly families: readonly FamilyFacts[];
  readonly models: readonly KnownModel[];
  readonly platforms: readonly Platform[];
  readonly sabotage: readonly LoadedSabotage[];
  /** Of the sabotage files, which no catalog is made of. */
  readonly sabotageProblems: readonly Problem[];
  /** knowledge/reports by SHA-256 of their content. */
  readonly reports: ReadonlyMap<string, TreeFile>;
}

/** What stands before and after. */
export interface KnowledgeChange {
  readonly before: KnowledgeSide;
  readonly after: KnowledgeSide;
}

const sides = new WeakMap<Tree, KnowledgeSide>();

/** A tree never changes: what it says is read once. */
export function readSide(tree: Tree): KnowledgeSide {
  const side = sides.get(tree) ?? parseSide(tree);
  sides.set(tree, side);
  return side;
}

function parseSide(tree: Tree): KnowledgeSide {
  const files = [...tree.values()];
  const folders = new Set(files.flatMap(({ path }) => /^contracts\/([^/]+)\//.exec(path)?.[1] ?? []));
  const contracts = [...folders].flatMap((folder) => loadContractFolder(tree, folder).loaded ?? []);
  const sabotage = files.filter(({ path }) => path.startsWith('sabotage')).map(readSabotage);
  const { families, models } = loadModels(tree);
  return {
    tree,
    contracts: new Map(contracts.map((entry) => [entry.contract.frontMatter.id, entry])),
    failureModes: loadFailureModes(tree).failureModes,
    families,
    models,
    platforms: loadPlatforms(tree).platforms,
    sabotage: sabotage.flatMap(({ loaded }) => loaded ?? []),
    sabotageProblems: sabotage.flatMap(({ problems }) => problems),
    reports: new Map(
      files.filter(({ path }) => path.startsWith('reports/')).map((file) => [file.sha256, file]),
    ),
  };
}

function readSabotage(file: TreeFile): { loaded?: LoadedSabotage; problems: readonly Problem[] } {
  const { yaml, value, problems } = readYamlFile(file, SabotageFile);
  if (yaml === undefined || value === undefined) return { problems };
  return { loaded: { file: file.path, value, locate: yaml.locate }, problems };
}

/** The same file is the same object on both sides, so that nothing is read twice. */
export function shareFiles(before: Tree, after: Tree): Tree {
  return new Map(
    [...after].map(([path, file]) => {
      const known = before.get(path);
      return [path, known?.sha256 === file.sha256 ? known : file];
    }),
  );
}

/** Realizations whose bytes are not those of a file of the same name before. */
export function changedRealizations(
  { before, after }: KnowledgeChange,
  keep: (realization: Realization, old: Realization | undefined) => boolean = () => true,
): { readonly loaded: LoadedContract; readonly realization: Realization; readonly file: string }[] {
  return [...after.contracts].flatMap(([id, loaded]) => {
    const old = before.contracts.get(id)?.contract.realizations ?? [];
    return loaded.contract.realizations
      .filter((realization) => {
        const same = old.find(({ file }) => file === realization.file);
        return same?.sha256 !== realization.sha256 && keep(realization, same);
      })
      .map((realization) => ({ loaded, realization, file: realizationPath(loaded, realization.file) }));
  });
}

export function realizationPath({ contract }: LoadedContract, file: string): string {
  return `contracts/${contract.folder}/realizations/${file}`;
}

export function evidencePath({ contract }: LoadedContract): string {
  return `contracts/${contract.folder}/evidence.yaml`;
}

/** `sha256:` in front or not, a hash is the same hash. */
export function bareHash(hash: string): string {
  return hash.replace(/^sha256:/, '');
}

/** Equal in every field, in whatever order they are written. */
export function isSameEvidence(a: Evidence, b: Evidence): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}

/** The 1-based line of the first one that holds the text; 1 where none does. */
export function lineOf(text: string, wanted: string): number {
  const at = text.indexOf(wanted);
  return at < 0 ? 1 : text.slice(0, at).split('\n').length;
}
