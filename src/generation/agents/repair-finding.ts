import type { RepairFinding } from '../../model/agent-work.ts';
import type { Contract } from '../../model/contract.ts';
import type { Finding } from '../../model/report.ts';
import { briefContract, type ContractBrief, sourcePath, symbolName } from './contract-brief.ts';
import { bodySections } from './list-clauses.ts';

/** Evidence that says what came out, under the names that gates use. */
const gotKeys = ['got', 'actual', 'failure', 'kind'] as const;
const wantedKeys = ['wanted', 'expected', 'limit', 'goal'] as const;

/**
 * A gate's finding as the agent of its contract is told it: gate, place, expected and got, and the statement of the
 * contract that is broken. Whatever the gate left out is said as exactly as can be.
 */
export function toRepairFinding(finding: Finding, owner: Contract): RepairFinding {
  const contract = briefContract(owner);
  const { gate } = finding;
  const isOwnFile = finding.file === null || finding.file === contract.header.name.replace(/\.h$/, '.cpp');
  return {
    contract: contract.id,
    source: gate,
    file: finding.file ?? sourcePath(contract),
    line: finding.line,
    message: clip(isOwnFile ? finding.message : `${finding.file}: ${finding.message}`, 4000),
    expected: clip(expectedOf(finding, contract), 1000),
    got: clip(gotOf(finding), 1000),
    clause: clip(clauseOf(finding, contract), 1000),
  };
}

function expectedOf({ gate, evidence, message }: Finding, contract: ContractBrief): string {
  const value = firstOf(evidence, wantedKeys);
  if (value !== undefined) return `${value}${placeOf(evidence)}`;
  if (gate === 'build')
    return 'the file compiles and runs clean with all warnings as errors and under the sanitizers';
  if (gate === 'static') return 'the rules for generated files hold';
  if (message.includes('does not compile'))
    return 'the file compiles with all warnings as errors, for every set of constants';
  if (message.includes('the process ended')) return 'the call returns';
  const unit = caseOf(evidence, contract);
  if (unit !== undefined) return `as the reference of ${contract.id} for case ${unit.id}`;
  return `what the gate ${gate} asks for`;
}

function gotOf({ evidence, message }: Finding): string {
  const value = firstOf(evidence, gotKeys);
  const figures = Object.entries(evidence)
    .filter(([key]) => ['nmse', 'max_abs', 'kld', 'mean_kld', 'cosine'].includes(key))
    .map(([key, figure]) => `${key} ${figure}`);
  const parts = [...(value === undefined ? [] : [String(value)]), ...figures];
  return parts.length === 0 ? message : parts.join(', ');
}

/** `output out, case basic, constants small, index 7`: where in the results. */
function placeOf(evidence: Finding['evidence']): string {
  const known = [
    'output',
    'case',
    'model',
    'index',
    'stage',
    'position',
    'element',
    'token',
    'tensor',
    'key',
  ];
  const parts = known.flatMap((key) =>
    evidence[key] === undefined || evidence[key] === null ? [] : [`${key} ${evidence[key]}`],
  );
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** In the contract's own words: the invariant of the case or gate, the case itself, the symbol, the meaning. */
function clauseOf({ gate, evidence, message }: Finding, contract: ContractBrief): string {
  const unit = caseOf(evidence, contract);
  const shownBy = unit === undefined ? gate : `gate.yaml#${unit.id}`;
  const invariant = contract.invariants.find((entry) => entry.gate === shownBy);
  if (invariant !== undefined) return `invariant ${invariant.id}: ${invariant.says}`;
  const named = contract.symbols.find(({ signature }) =>
    new RegExp(`\\b${symbolName(signature)}\\b`).test(message),
  );
  const symbol = named ?? contract.symbols.find(({ signature }) => symbolName(signature) === unit?.op);
  if (unit !== undefined) {
    const says = unit.says ?? `${unit.op} equals the reference within the tolerance`;
    return `case ${unit.id}: ${says}${symbol === undefined ? '' : ` — ${symbol.signature}`}`;
  }
  if (symbol !== undefined) return `${symbol.signature} — errors: ${symbol.errors}`;
  if (gate === 'build' || gate === 'static') return `rules for the file (gate ${gate})`;
  const meaning = bodySections(contract.body).find(({ title }) => title === 'Meaning')?.text;
  return meaning?.split('\n\n')[0] ?? contract.symbols.map(({ signature }) => signature).join(' · ');
}

function caseOf(evidence: Finding['evidence'], contract: ContractBrief) {
  return contract.gate?.cases.find(({ id }) => id === evidence.case);
}

function firstOf(evidence: Finding['evidence'], keys: readonly string[]) {
  const key = keys.find((name) => evidence[name] !== undefined && evidence[name] !== null);
  return key === undefined ? undefined : evidence[key];
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** Each finding once, as many as a run's state keeps. */
export function limitFindings(findings: readonly RepairFinding[]): RepairFinding[] {
  const seen = new Set<string>();
  const distinct = findings.filter(({ source, file, line, message }) => {
    const key = JSON.stringify([source, file, line, message]);
    return seen.has(key) ? false : seen.add(key);
  });
  return distinct.slice(0, 12);
}
