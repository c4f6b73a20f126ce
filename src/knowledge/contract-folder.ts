import { z } from 'zod';
import { type Contract, ContractFrontMatter, Evidence, Gate, type Realization } from '../model/contract.ts';
import type { Problem } from '../model/problem.ts';
import type { Tree, TreeFile } from './read-tree.ts';
import { parseRealization } from './realization-comment.ts';
import { checkSchema, parseYamlText, splitFrontMatter, type YamlText } from './yaml-text.ts';

/** A contract with what is needed to place later faults. */
export interface LoadedContract {
  readonly contract: Contract;
  /** Places inside contract.md. */
  readonly yaml: YamlText;
  readonly gateYaml: YamlText | undefined;
  readonly referenceText: string | undefined;
}

/** Folder ↔ id: the first dash of the folder is the dot of the id. */
export function idOfFolder(folder: string): string {
  return folder.replace('-', '.');
}

export function headerOfFolder(folder: string): string {
  return `${folder.replaceAll('-', '_')}.h`;
}

/** Reads contracts/<folder>/ as far as it is readable; everything wrong inside the folder is in `problems`. */
export function loadContractFolder(
  tree: Tree,
  folder: string,
): { readonly loaded?: LoadedContract; readonly problems: readonly Problem[] } {
  const root = `contracts/${folder}/`;
  const problems: Problem[] = [...findUnexpectedFiles(tree, folder)];
  const page = tree.get(`${root}contract.md`);
  if (page === undefined) {
    problems.push(missingFile(`${root}contract.md`, 'every contract folder needs one'));
    return { problems };
  }
  const front = readFrontMatter(page);
  problems.push(...front.problems);
  const header = tree.get(`${root}${headerOfFolder(folder)}`);
  if (header === undefined)
    problems.push(missingFile(`${root}${headerOfFolder(folder)}`, 'the contract has no header'));
  const gate = readYamlFile(tree.get(`${root}gate.yaml`), Gate);
  const evidence = readYamlFile(tree.get(`${root}evidence.yaml`), z.array(Evidence));
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
    header: { name: headerOfFolder(folder), text: header.text, sha256: header.sha256 },
    gate: gate.value,
    shim: shim === undefined ? undefined : { text: shim.text, sha256: shim.sha256 },
    hasReference: reference !== undefined,
    referenceSha256: reference?.sha256 ?? null,
    realizations: realizations.value,
    evidence: evidence.value ?? [],
    gateSha256: tree.get(`${root}gate.yaml`)?.sha256 ?? null,
    sha256: page.sha256,
  };
  const loaded = { contract, yaml: front.yaml, gateYaml: gate.yaml, referenceText: reference?.text };
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

export function readYamlFile<T>(file: TreeFile | undefined, schema: z.ZodType<T>) {
  if (file === undefined) return { value: undefined, yaml: undefined, problems: [] };
  const yaml = parseYamlText(file.text, file.path);
  return { yaml, value: undefined, ...checkSchema(yaml, schema, file.path) };
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
    const message = `expected ${expected} from the folder name ${folder}, found ${found}`;
    problems.push({ severity: 'error', code, file, ...yaml.locate(path), path: path.join('.'), message });
  };
  expect(['id'], front.id, idOfFolder(folder), 'id-not-folder');
  expect(['provides', 'header'], front.provides.header, headerOfFolder(folder), 'header-not-folder');
  return problems;
}

function findUnexpectedFiles(tree: Tree, folder: string): Problem[] {
  const known = new Set(['contract.md', headerOfFolder(folder), 'gate.yaml', 'shim.cpp', 'evidence.yaml']);
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
