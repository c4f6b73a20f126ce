import type { RepairFinding } from '../../model/agent-work.ts';
import type { Contract } from '../../model/contract.ts';
import type { Finding, GateName } from '../../model/report.ts';
import { briefContract, type ContractBrief, sourcePath, symbolName } from './contract-brief.ts';
import { bodySections } from './list-clauses.ts';

/** Evidence that says what came out and what should have, under the names that gates use. */
const gotKeys: readonly string[] = ['got', 'actual', 'failure', 'kind'];
const wantedKeys: readonly string[] = ['wanted', 'expected', 'limit', 'goal'];
const figureKeys: readonly string[] = ['nmse', 'max_abs', 'kld', 'mean_kld', 'cosine', 'top1'];

/** What each gate demands, for findings whose evidence has no value to compare with. */
const demands: Readonly<Record<GateName, string>> = {
  static: 'the rules for generated files hold',
  build: 'every file compiles with all warnings as errors, and runs clean under the sanitizers',
  ledger:
    'every tensor of the checkpoint is read exactly once, under its name and shape, and each one matters',
  unit: 'the symbols give what the reference gives, for every set of constants',
  trace: 'every hidden state is that of the float64 reference, within the limits',
  logits: 'the teacher-forced logits are those of the float64 reference, within the limits',
  edges:
    'what nothing wrote (NaN) and what earlier prompts left changes nothing; what is out of range is refused with a reason, and the next request works',
  equivalence: 'prefill and decode, a batch and its sequences alone give the same bits',
  text: 'ids and texts are those of the reference, and every way to ask gives the same text',
  determinism: 'every fresh process gives the same bits',
  bench: 'the goals are met',
  physics: 'nothing is faster than the memory allows',
};

/**
 * A gate's finding as the agent of `owner` is told it: gate, place, expected and got, and the statement of the contract
 * that is broken. Whatever the gate left out is said as exactly as can be.
 */
export function toRepairFinding(finding: Finding, owner: Contract): RepairFinding {
  const contract = briefContract(owner);
  const own = sourcePath(contract);
  // Seen in another contract's part, and this one is suspected of it.
  const isElsewhere = finding.contract !== null && finding.contract !== contract.id && finding.file !== own;
  const file = isElsewhere ? own : (finding.file ?? own);
  const origin = isElsewhere ? `seen at ${finding.contract}: ` : file === own ? '' : `${file}: `;
  return {
    contract: contract.id,
    source: finding.gate,
    file,
    line: isElsewhere ? null : finding.line,
    message: clip(`${origin}${finding.message}`, 4000),
    expected: clip(expectedOf(finding, contract), 1000),
    got: clip(gotOf(finding), 1000),
    clause: clip(clauseOf(finding, contract), 1000),
  };
}

function expectedOf({ gate, evidence, message }: Finding, contract: ContractBrief): string {
  const value = firstOf(evidence, wantedKeys);
  const place = placeOf(evidence);
  if (value !== undefined) return `${value}${place}`;
  if (message.includes('does not compile')) return `${demands.build}, for every set of constants${place}`;
  const unit = caseOf(evidence, contract);
  if (unit !== undefined) return `what the reference of ${contract.id} gives${place}`;
  return `${demands[gate]}${place}`;
}

function gotOf({ evidence, message }: Finding): string {
  const value = firstOf(evidence, gotKeys);
  const figures = figureKeys.flatMap((key) => {
    const figure = evidence[key];
    return typeof figure === 'number' ? [`${key} ${Number(figure.toPrecision(4))}`] : [];
  });
  const parts = [...(value === undefined ? [] : [String(value)]), ...figures];
  return parts.length === 0 ? message : parts.join(', ');
}

/** ` (case basic, model small, output out, index 7)`: where in what was tried. */
function placeOf(evidence: Finding['evidence']): string {
  const told = [...gotKeys, ...wantedKeys, ...figureKeys];
  const parts = Object.entries(evidence)
    .filter(([key, value]) => value !== null && !told.includes(key))
    .map(([key, value]) => `${key} ${value}`);
  return parts.length === 0 ? '' : ` (${clip(parts.join(', '), 400)})`;
}

/** In the contract's own words: the invariants of the case or gate, the case itself, the symbol, the meaning. */
function clauseOf({ gate, evidence, message }: Finding, contract: ContractBrief): string {
  const unit = caseOf(evidence, contract);
  const shownBy = unit === undefined ? gate : `gate.yaml#${unit.id}`;
  const invariants = contract.invariants.filter((entry) => entry.gate === shownBy);
  if (invariants.length > 0) return invariants.map(({ id, says }) => `invariant ${id}: ${says}`).join('; ');
  const named = contract.symbols.find(({ signature }) =>
    new RegExp(`\\b${symbolName(signature)}\\b`).test(message),
  );
  const symbol = named ?? contract.symbols.find(({ signature }) => symbolName(signature) === unit?.op);
  if (unit !== undefined) {
    const says = unit.says ?? `${unit.op} gives what the reference gives, within the tolerance`;
    return `case ${unit.id}: ${says}${symbol === undefined ? '' : ` — ${symbol.signature}`}`;
  }
  if (symbol !== undefined) return `${symbol.signature} — errors: ${symbol.errors}`;
  if (gate === 'build' || gate === 'static') return `rules for the file: ${demands[gate]}`;
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
