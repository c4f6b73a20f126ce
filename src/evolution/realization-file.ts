import { createHash } from 'node:crypto';
import type { AgentFile } from '../model/agent-work.ts';
import type { Catalog } from '../model/catalog.ts';
import type { Contract, Realization } from '../model/contract.ts';
import { findIncludes } from '../model/cpp-tokens.ts';
import { allowedValues, type Predicate, type Target } from '../model/target.ts';
import { showPredicate } from './widest-predicate.ts';

/** An agent's file as knowledge keeps it. */
export interface RealizationFile
  extends Pick<Realization, 'file' | 'text' | 'sha256' | 'applies' | 'requires'> {
  readonly path: string;
}

/** Able to show a reader another text than the compiler sees. */
const hidden = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

export function holdsHiddenText(text: string): boolean {
  return hidden.test(text);
}

/** The text without the comment that opens it: what is compiled. */
export function codeOf(text: string): string {
  return text.replace(/^(?:\/\/.*\n)*/, '');
}

/** The realization of the contract that is the same code, whatever its comment says. */
export function findSameCode(contract: Contract, text: string): Realization | undefined {
  return contract.realizations.find((known) => codeOf(known.text).trim() === codeOf(text).trim());
}

/**
 * The agent's text with the lines that the planner reads and those that say where it comes from. The code is byte for
 * byte what the gates saw.
 */
export function makeRealizationFile(
  contract: Contract,
  source: AgentFile,
  found: {
    readonly catalog: Catalog;
    readonly applies: Predicate;
    readonly target: Target;
    readonly run: string;
    readonly reportSha256: string;
    /** Names of files that other lessons of this run made. */
    readonly taken: ReadonlySet<string>;
  },
): RealizationFile {
  const requires = listRequired(contract, source.text, found.catalog);
  const text = [
    ...openingOf(source, contract.frontMatter.id),
    `// Written by ${plain(source.origin.model)} from the contract alone: run ${plain(found.run)}, attempt ${source.origin.attempt}, prompt`,
    `// sha256:${plain(source.origin.requestSha256).slice(0, 16)}; its text sha256:${source.sha256.slice(0, 16)} passed every gate in report`,
    `// sha256:${found.reportSha256.slice(0, 16)}.`,
    `// applies: ${showPredicate(found.applies)}`,
    ...(requires.length === 0 ? [] : [`// requires: ${requires.join(', ')}`]),
    codeOf(source.text),
  ].join('\n');
  const file = nameFile(contract, found);
  return {
    ...{ file, text, requires, applies: found.applies },
    path: `contracts/${contract.folder}/realizations/${file}`,
    sha256: createHash('sha256').update(text).digest('hex'),
  };
}

/** What the agent wrote above its code, without what only knowledge may say. */
function openingOf(source: AgentFile, contract: string): string[] {
  const lines = source.text.slice(0, source.text.length - codeOf(source.text).length).split('\n');
  const own = lines
    .slice(0, -1)
    .filter((line) => !/^\/\/ *(?:SPDX|applies|requires|replaces|fuses)\b/i.test(line))
    .map((line) => plain(line).trimEnd());
  const [first = '', ...rest] = own;
  const summary = first.startsWith(`// ${contract}: `)
    ? first
    : `// ${contract}: by an agent, from the contract.`;
  return ['// SPDX-License-Identifier: MIT', summary, ...(summary === first ? rest : own)];
}

/** Names come from settings, comments from a model: ASCII that stays on its line. */
function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
}

/**
 * Contracts whose headers it includes though its contract does not bring them along. A contract that stands for another
 * one shares its header and is never named: the planner puts it in its place where the target asks for it.
 */
function listRequired(contract: Contract, text: string, { contracts }: Catalog): string[] {
  const byId = new Map(contracts.map((entry) => [entry.frontMatter.id, entry]));
  const reached = new Set<string>([contract.frontMatter.id]);
  const open = [...contract.frontMatter.requires];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    open.push(...(byId.get(id)?.frontMatter.requires ?? []));
  }
  const brought = new Set([...reached].map((id) => byId.get(id)?.header.name));
  const included = new Set(findIncludes(text).map(({ written }) => written.slice(1, -1)));
  return contracts
    .filter(({ frontMatter }) => frontMatter.stands_for === undefined)
    .filter(({ header }) => included.has(header.name) && !brought.has(header.name))
    .map(({ frontMatter }) => frontMatter.id)
    .sort();
}

/** `cpu-x86_64-bf16-qk-norm.cpp`: platform, weights, what tells it from its siblings, and a number where that is taken. */
function nameFile(
  contract: Contract,
  { target, taken }: { readonly target: Target; readonly taken: ReadonlySet<string> },
): string {
  const stem = [
    String(target['hardware.platform']),
    String(target['numerics.weights']),
    ...featuresOf(contract, target),
  ]
    .join('-')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-');
  const isTaken = (file: string): boolean =>
    taken.has(file) || contract.realizations.some((known) => known.file === file);
  for (let number = 1; ; number++) {
    const file = number === 1 ? `${stem}.cpp` : `${stem}-${number}.cpp`;
    if (!isTaken(file)) return file;
  }
}

/** Values of the keys by which other realizations of the contract say that they are for something else. */
function featuresOf(contract: Contract, target: Target): string[] {
  const keys = [
    'model.qkv_bias',
    'model.qk_norm',
    'model.tied_head',
    'rope.scaling',
    'tokenizer.pre_tokenizer',
  ] as const;
  return keys.flatMap((key) => {
    const value = target[key];
    const isTold = contract.realizations.some(
      ({ applies }) => allowedValues(applies, key)?.includes(value) === false,
    );
    if (!isTold || value === false || value === 'none') return [];
    const name = key.slice(key.indexOf('.') + 1).replaceAll('_', '-');
    return [value === true ? name : String(value).replaceAll('_', '-')];
  });
}
