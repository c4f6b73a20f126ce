import type { AgentFile, RepairFinding } from '../../model/agent-work.ts';
import { scanSource } from '../../model/code-rules.ts';
import { isConfigConstant } from '../../model/config-constants.ts';
import { findConfigReferences, tokenizeCpp } from '../../model/cpp-tokens.ts';
import { outlineCpp } from '../cpp-definitions.ts';
import { type DeadCode, findDeadCode } from '../find-dead-code.ts';
import { type ContractBrief, symbolName } from './contract-brief.ts';
import type { ContractTask } from './contract-task.ts';

export const maxFileLines = 500;
export const maxFileBytes = 64 * 1024;

interface Fault {
  readonly line: number | null;
  readonly message: string;
  readonly expected: string;
  readonly got?: string;
  /** The statement of the contract, or the numbers of the prompt's rules for the file. */
  readonly clause: string;
}

const formRule = 'rules for the file, 1';
const sizeRule = 'rules for the file, 2';
const useRule = 'rules for the file, 3, 4 and 8';
const unusedRule = 'rules for the file, 6';

/** What can be said against a file without compiling it; the harness's static gate holds the same rules and more. */
export function checkAgentFile(
  file: Pick<AgentFile, 'path' | 'text'>,
  task: Pick<ContractTask, 'contract' | 'path' | 'available'>,
): RepairFinding[] {
  const lines = file.text.split('\n');
  const size = checkSize(file.text, lines);
  const faults = size.length > 0 ? size : checkContent(file, lines, task);
  return faults.map((fault) => ({
    contract: task.contract.id,
    source: 'static',
    file: task.path,
    line: fault.line,
    message: fault.message,
    expected: fault.expected.slice(0, 1000),
    got: (fault.got ?? lines[(fault.line ?? 0) - 1]?.trim() ?? fault.message).slice(0, 1000),
    clause: fault.clause.slice(0, 1000),
  }));
}

/** First of all: what is too large is not looked into. */
function checkSize(text: string, lines: readonly string[]): Fault[] {
  const faults: Fault[] = [];
  const count = lines.length - 1;
  if (count > maxFileLines) {
    const expected = `at most ${maxFileLines} lines`;
    faults.push({
      line: null,
      message: 'the file is too long',
      expected,
      got: `${count} lines`,
      clause: sizeRule,
    });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > maxFileBytes) {
    const expected = `at most ${maxFileBytes} bytes`;
    faults.push({
      line: null,
      message: 'the file is too large',
      expected,
      got: `${bytes} bytes`,
      clause: sizeRule,
    });
  }
  return faults;
}

function checkContent(
  file: Pick<AgentFile, 'path' | 'text'>,
  lines: readonly string[],
  task: Pick<ContractTask, 'contract' | 'available'>,
): Fault[] {
  const unused = findDeadCode([file]);
  const tooDeep = unused.find(({ code }) => code === 'too-deep');
  if (tooDeep !== undefined)
    return [
      { line: null, message: tooDeep.message, expected: 'code that a person can follow', clause: sizeRule },
    ];
  return [
    ...checkForm(file.text, lines, task.contract),
    ...checkRules(file.text, task),
    ...checkConstants(file.text, task.contract),
    ...checkSymbols(file.text, task.contract),
    ...checkUnused(unused, task.contract),
  ];
}

function checkForm(text: string, lines: readonly string[], { id, header }: ContractBrief): Fault[] {
  const faults: Fault[] = [];
  const opening = '// SPDX-License-Identifier: MIT';
  if (lines[0] !== opening)
    faults.push({
      line: 1,
      message: 'the file does not open with its licence line',
      expected: opening,
      clause: formRule,
    });
  if (!(lines[1] ?? '').startsWith(`// ${id}`)) {
    const expected = `// ${id}: what it computes, shapes, dtypes, target, tolerance`;
    faults.push({
      line: 2,
      message: 'the second line does not name the contract',
      expected,
      clause: formRule,
    });
  }
  if (!text.includes(`#include "${header.name}"`)) {
    const expected = `#include "${header.name}"`;
    faults.push({
      line: null,
      message: 'the contract’s own header is not included',
      expected,
      got: 'no such line',
      clause: formRule,
    });
  }
  return faults;
}

/** Includes, directives, spellings and names that generated code may not use: the list of the static gate. */
function checkRules(
  text: string,
  { contract, available }: Pick<ContractTask, 'contract' | 'available'>,
): Fault[] {
  const headers = new Set([
    contract.header.name,
    ...available.map(({ brief }) => brief.header.name),
    'config.h',
  ]);
  const expected =
    'only the headers that are listed, #include and #pragma GCC unroll, plain spelling, and no name on the list of forbidden ones';
  return scanSource(text, { headers, contract: contract.id }).map((fault) => ({
    ...fault,
    expected,
    clause: useRule,
  }));
}

function checkConstants(text: string, { config }: ContractBrief): Fault[] {
  const expected =
    config.length === 0
      ? 'no constant of config.h'
      : `only ${config.map((name) => `config::${name}`).join(', ')}`;
  return [...findConfigReferences(tokenizeCpp(text))]
    .filter(([name]) => !config.includes(name))
    .map(([name, line]) => ({
      line,
      message: isConfigConstant(name)
        ? `config::${name} is not among the constants of this contract; take the value from an argument`
        : `config.h has no constant ${name}`,
      expected,
      clause: `constants of the contract: ${config.join(', ') || 'none'}`,
    }));
}

/** Each declared function must be defined, each opaque type completed. */
function checkSymbols(text: string, { symbols, header }: ContractBrief): Fault[] {
  const inHeader = new Set(outlineCpp(tokenizeCpp(header.text)).definitions.map(({ name }) => name));
  const defined = new Set(outlineCpp(tokenizeCpp(text)).definitions.map(({ name }) => name));
  return symbols
    .map(({ signature }) => ({ signature, name: symbolName(signature) }))
    .filter(({ name }) => !inHeader.has(name) && !defined.has(name))
    .map(({ signature, name }) => ({
      line: null,
      message: `${name} is declared in the header and defined nowhere`,
      expected: signature,
      got: 'no definition',
      clause: signature,
    }));
}

/** Helpers that nothing uses. What the header declares is used from elsewhere. */
function checkUnused(unused: readonly DeadCode[], { header }: ContractBrief): Fault[] {
  const declared = new Set(tokenizeCpp(header.text).map(({ text }) => text));
  return unused
    .filter(({ name }) => name === undefined || !declared.has(name))
    .map(({ line, message }) => ({
      line: line ?? null,
      message,
      expected: 'every helper is used',
      clause: unusedRule,
    }));
}
