import { z } from 'zod';
import { type Contract, ContractFrontMatter, Evidence, Gate, type Realization } from '../model/contract.ts';
import type { Problem } from '../model/problem.ts';
import type { Tree, TreeFile } from './read-tree.ts';
import { parseRealization } from './realization-comment.ts';
import { checkSchema, parseYamlText, splitFrontMatter, type YamlText } from './yaml-text.ts';

const EvidenceFile = z.array(Evidence);

/** A contract with what is needed to place later faults. */
export interface LoadedContract {
  readonly contract: Contract;
  /** Places inside contract.md. */
  readonly yaml: YamlText;
  readonly gateYaml: YamlText | undefined;
  readonly evidenceYaml: YamlText | undefined;
  readonly referenceText: string | undefined;
}

/** Folder ↔ id: the first dash of the folder is the dot of the id. */
export function idOfFolder(folder: string): string {
  return folder.replace('-', '.');
}

/** The header of a contract's folder; one that stands for another contract provides that one's. */
function headerNameOf(folder: string, standsFor: string | undefined): string {
  return headerOfFolder(standsFor?.replace('.', '-') ?? folder);
}

export function headerOfFolder(folder: string): string {
  return `${folder.replaceAll('-', '_')}.h`;
}

interface ReadFolder {
  readonly loaded?: LoadedContract;
  readonly problems: readonly Problem[];
}

const readFolders = new WeakMap<
  TreeFile,
  { readonly files: readonly TreeFile[]; readonly read: ReadFolder }
>();

/**
 * Reads contracts/<folder>/ as far as it is readable; everything wrong inside the folder is in `problems`. The same
 * files give the same object: most folders of a knowledge change are those of before.
 */
export function loadContractFolder(tree: Tree, folder: string): ReadFolder {
  const files = [...tree.values()].filter(({ path }) => path.startsWith(`contracts/${folder}/`));
  const known = files[0] === undefined ? undefined : readFolders.get(files[0]);
  const isSame =
    known?.files.length === files.length && known.files.every((file, index) => file === files[index]);
  if (known !== undefined && isSame) return known.read;
  const read = readFolder(tree, folder);
  if (files[0] !== undefined) readFolders.set(files[0], { files, read });
  return read;
}

function readFolder(tree: Tree, folder: string): ReadFolder {
  const root = `contracts/${folder}/`;
  const page = tree.get(`${root}contract.md`);
  if (page === undefined) {
    const missing = missingFile(`${root}contract.md`, 'every contract folder needs one');
    return { problems: [...findUnexpectedFiles(tree, folder, headerOfFolder(folder)), missing] };
  }
  const front = readOnce(page, ContractFrontMatter, readFrontMatter);
  // Of one that stands for another, whatever it says; checkNames compares.
  const headerName =
    front.value?.stands_for === undefined ? headerOfFolder(folder) : front.value.provides.header;
  const problems: Problem[] = [...findUnexpectedFiles(tree, folder, headerName), ...front.problems];
  const header = tree.get(`${root}${headerName}`);
  if (header === undefined) problems.push(missingFile(`${root}${headerName}`, 'the contract has no header'));
  const gate = readYamlFile(tree.get(`${root}gate.yaml`), Gate);
  const evidence = readYamlFile(tree.get(`${root}evidence.yaml`), EvidenceFile);
  const realizations = readRealizations(tree, root, idOfFolder(folder));
  problems.push(...gate.problems, ...evidence.problems, ...realizations.problems);
  if (front.value === undefined || header === undefined) return { problems };
  problems.push(...checkNames(folder, front.value, front.yaml, page.path));
  const shim = tree.get(`${root}shim.cpp`);
  const reference = tree.get(`${root}reference.ts`);
  const contract: Contract = {
    folder,
    frontMatter: front.value,
    body: front.body,
    header: { name: headerName, text: header.text, sha256: header.sha256 },
    gate: gate.value,
    shim: shim === undefined ? undefined : { text: shim.text, sha256: shim.sha256 },
    hasReference: reference !== undefined,
    referenceSha256: reference?.sha256 ?? null,
    realizations: realizations.value,
    evidence: evidence.value ?? [],
    gateSha256: tree.get(`${root}gate.yaml`)?.sha256 ?? null,
    sha256: page.sha256,
  };
  const loaded = {
    ...{ contract, yaml: front.yaml, gateYaml: gate.yaml, evidenceYaml: evidence.yaml },
    referenceText: reference?.text,
  };
  return { loaded, problems };
}

function readFrontMatter(page: TreeFile) {
  const split = splitFrontMatter(page.text, page.path);
  if ('problem' in split) return { problems: [split.problem] };
  const checked = checkSchema(split.yaml, ContractFrontMatter, page.path);
  const problems = [...checked.problems];
  if (checked.value !== undefined && split.body.trim() === '') {
    problems.push({
      severity: 'error',
      code: 'no-text',
      file: page.path,
      message: 'the contract has no text below its front matter',
    });
  }
  return { value: checked.value, yaml: split.yaml, body: split.body, problems };
}

interface YamlFile<T> {
  readonly yaml: YamlText | undefined;
  readonly value: T | undefined;
  readonly problems: readonly Problem[];
}

export function readYamlFile<T>(file: TreeFile | undefined, schema: z.ZodType<T>): YamlFile<T> {
  if (file === undefined) return { value: undefined, yaml: undefined, problems: [] };
  return readOnce(file, schema, () => {
    const yaml = parseYamlText(file.text, file.path);
    return { yaml, value: undefined, ...checkSchema(yaml, schema, file.path) };
  });
}

const readFiles = new WeakMap<TreeFile, Map<unknown, unknown>>();

/** A file never changes, and the two sides of a knowledge change share most of theirs: reading YAML is half of a check. */
function readOnce<T>(file: TreeFile, kind: unknown, read: (file: TreeFile) => T): T {
  const known = readFiles.get(file) ?? new Map<unknown, unknown>();
  readFiles.set(file, known);
  if (!known.has(kind)) known.set(kind, read(file));
  return known.get(kind) as T;
}

function readRealizations(tree: Tree, root: string, id: string) {
  const files = [...tree.values()].filter(
    (file) => file.path.startsWith(`${root}realizations/`) && /\.(?:cpp|cu)$/.test(file.path),
  );
  const parsed = files.map((file) => parseRealization(file, id));
  const value: Realization[] = parsed.map((entry) => entry.realization);
  return { value, problems: parsed.flatMap((entry) => entry.problems) };
}

function checkNames(folder: string, front: ContractFrontMatter, yaml: YamlText, file: string): Problem[] {
  const problems: Problem[] = [];
  const expect = (path: string[], found: string, expected: string, code: string) => {
    if (found === expected) return;
    const from = code === 'header-not-folder' ? (front.stands_for ?? folder) : folder;
    const message = `expected ${expected} from the folder name ${from.replace('.', '-')}, found ${found}`;
    problems.push({ severity: 'error', code, file, ...yaml.locate(path), path: path.join('.'), message });
  };
  expect(['id'], front.id, idOfFolder(folder), 'id-not-folder');
  const header = headerNameOf(folder, front.stands_for);
  expect(['provides', 'header'], front.provides.header, header, 'header-not-folder');
  return problems;
}

function findUnexpectedFiles(tree: Tree, folder: string, header: string): Problem[] {
  const known = new Set(['contract.md', header, 'gate.yaml', 'shim.cpp', 'evidence.yaml']);
  const root = `contracts/${folder}/`;
  return [...tree.keys()]
    .filter((path) => path.startsWith(root))
    .filter((path) => {
      const name = path.slice(root.length);
      return (
        !known.has(name) &&
        !/^[a-z0-9-]+\.ts$/.test(name) &&
        !/^realizations\/[a-z0-9_-]+\.(?:cpp|cu)$/.test(name)
      );
    })
    .map((path) => ({
      severity: 'error',
      code: 'unexpected-file',
      file: path,
      message: `not a file of a contract; expected ${[...known].join(', ')}, *.ts or realizations/*.cpp or *.cu`,
    }));
}

function missingFile(file: string, why: string): Problem {
  return { severity: 'error', code: 'missing-file', file, message: `missing: ${why}` };
}

/** A fault with its place in contract.md. */
export function pageProblem(
  loaded: LoadedContract,
  code: string,
  path: (string | number)[],
  message: string,
): Problem {
  const file = `contracts/${loaded.contract.folder}/contract.md`;
  return { severity: 'error', code, file, ...loaded.yaml.locate(path), path: path.join('.'), message };
}
