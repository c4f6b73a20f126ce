import { isConfigConstant } from '../model/config-constants.ts';
import type { Gate } from '../model/contract.ts';
import { namedGates } from '../model/failure-mode.ts';
import type { Problem } from '../model/problem.ts';
import { type LoadedContract, pageProblem } from './contract-folder.ts';

/** The gates that a contract names exist, and its gate.yaml fits the contract and its reference. */
export function checkGate(loaded: LoadedContract): Problem[] {
  const { gate } = loaded.contract;
  return [...checkGateNames(loaded), ...(gate === undefined ? [] : checkGateFile(loaded, gate))];
}

function checkGateNames(loaded: LoadedContract): Problem[] {
  const { gate, frontMatter } = loaded.contract;
  const caseNames = new Set(gate?.cases.map((entry) => `gate.yaml#${entry.id}`));
  const expected = `one of ${namedGates.join(', ')}`;
  const invariants = frontMatter.invariants.flatMap(({ gate: name }, index) => {
    if (caseNames.has(name) || namedGates.includes(name)) return [];
    const message = `${name} does not exist; expected gate.yaml#<case id> or ${expected}`;
    return [pageProblem(loaded, 'dangling-gate', ['invariants', index, 'gate'], message)];
  });
  const gates = frontMatter.gates.flatMap((name, index) => {
    if ((name === 'gate.yaml' && gate !== undefined) || namedGates.includes(name)) return [];
    const message = `${name} does not exist; expected gate.yaml or ${expected}`;
    return [pageProblem(loaded, 'dangling-gate', ['gates', index], message)];
  });
  return [...invariants, ...gates];
}

function checkGateFile(loaded: LoadedContract, gate: Gate): Problem[] {
  const { frontMatter, folder } = loaded.contract;
  const problems: Problem[] = [];
  const report = (code: string, path: (string | number)[], message: string) => {
    const place = loaded.gateYaml?.locate(path);
    const file = `contracts/${folder}/gate.yaml`;
    problems.push({ severity: 'error', code, file, ...place, path: path.join('.'), message });
  };
  if (gate.contract !== frontMatter.id) {
    report('gate-of-another', ['contract'], `expected ${frontMatter.id}, found ${gate.contract}`);
  }
  if (!frontMatter.gates.includes('gate.yaml')) {
    report('gate-not-listed', ['contract'], 'contract.md does not list gate.yaml under gates');
  }
  gate.configs.forEach((config, index) => {
    for (const name of Object.keys(config).filter((key) => !isConfigConstant(key))) {
      report('unknown-constant', ['configs', index, name], `${name} is not a constant of config.h`);
    }
  });
  const seen = new Set<string>();
  gate.cases.forEach(({ id, op }, index) => {
    if (seen.has(id)) report('duplicate-case', ['cases', index, 'id'], `the case ${id} is stated twice`);
    seen.add(id);
    // reference.ts is not run here: a word that is not in its text cannot be one of its ops.
    const hasWord = new RegExp(`\\b${op.replace(/\W/g, '\\$&')}\\b`).test(loaded.referenceText ?? op);
    if (!hasWord) report('unknown-op', ['cases', index, 'op'], `reference.ts has no op ${op}`);
  });
  return problems;
}
