import type { Selection } from '../model/catalog.ts';
import type { Finding, GateName, GateResult } from '../model/report.ts';
import { type Dependencies, dependencyMap } from './dependencies.ts';

/** A contract that may be to blame, with what speaks for it. */
export interface RankedSuspect {
  readonly contract: string;
  readonly evidence: readonly string[];
  /** What its agent is to be told; addressed to this contract, whomever the gate named. */
  readonly findings: readonly Finding[];
  /** 0: named itself · 1: needed by what was named, and never judged by itself · 2: needed, its unit gate is green · 3: nothing but that an agent wrote it. */
  readonly distance: 0 | 1 | 2 | 3;
}

export interface GateDiagnosis {
  /** Only gates that judge contracts by themselves are red. */
  readonly isContractLevel: boolean;
  /** Contracts of agents, likeliest first. */
  readonly suspects: readonly RankedSuspect[];
  /** Those to be written again now: each for a fault of its own. */
  readonly guilty: readonly RankedSuspect[];
  /** For some fault several contracts are equally suspect; `guilty` then holds the first of them only. */
  readonly isAmbiguous: boolean;
}

export interface DiagnosisInput {
  readonly gates: readonly GateResult[];
  readonly selection: Selection;
  /** Contracts that agents wrote: the only ones that can be written again. */
  readonly written: ReadonlySet<string>;
  /** Contracts already written again for a fault that only the whole engine showed: they come after others. */
  readonly tried?: ReadonlySet<string>;
}

/** Gates that judge one contract by itself. */
const contractGates: readonly GateName[] = ['static', 'build', 'unit'];
/**
 * The others by what they can go wrong of independently, and in each from what tells most to what tells least: after a
 * wrong hidden state, wrong logits and unequal ways to them are consequences; the text has its own parts.
 */
const families: readonly (readonly GateName[])[] = [
  ['trace', 'ledger', 'logits', 'edges', 'equivalence', 'determinism'],
  ['text'],
];
const maxFindings = 6;

/** Who is to blame for red gates: from their findings and from what needs what, without running anything. */
export function diagnose(input: DiagnosisInput): GateDiagnosis {
  const red = input.gates.filter(({ status }) => status === 'failed');
  const needs = dependencyMap(input.selection);
  const isContractLevel =
    red.length > 0 && red.every(({ gate }) => (contractGates as readonly string[]).includes(gate));
  const apart = contractFaults(red, needs, input.written);
  const whole = isContractLevel
    ? apart.length > 0
      ? []
      : callerFaults(red, needs, input)
    : families.flatMap((family) => engineFaults(red, family, needs, input));
  const faults = [...apart, ...whole];
  const guilty = faults.flatMap(({ suspects }) => suspects.slice(0, 1));
  return {
    isContractLevel,
    suspects: eachOnce([...guilty, ...faults.flatMap(({ suspects }) => suspects.slice(1))]),
    guilty: eachOnce(guilty),
    isAmbiguous: faults.some(({ suspects: [first, second] }) => {
      return first !== undefined && first.distance > 0 && first.distance === second?.distance;
    }),
  };
}

/** One thing that is wrong, and who may have done it, likeliest first. */
interface Fault {
  readonly suspects: readonly RankedSuspect[];
}

/** What compiles badly is at fault itself; of those with wrong results, the ones that need no other such contract. */
function contractFaults(
  red: readonly GateResult[],
  needs: Dependencies,
  written: ReadonlySet<string>,
): Fault[] {
  const findings = red
    .filter(({ gate }) => (contractGates as readonly string[]).includes(gate))
    .flatMap((gate) => gate.findings)
    .filter(({ contract }) => contract !== null && written.has(contract));
  const named = [...new Set(findings.map(({ contract }) => contract!))];
  const isCause = (id: string): boolean =>
    findings.some(({ contract, gate }) => contract === id && gate !== 'unit') ||
    !named.some((other) => other !== id && needs.closureOf(id).has(other));
  return needs.inOrder(named.filter(isCause)).map((id) => ({
    suspects: [
      nameSuspect(
        id,
        findings.filter(({ contract }) => contract === id),
      ),
    ],
  }));
}

/** The build gate also runs the engine: what it sees at a part of knowledge may be the doing of whoever calls that part. */
function callerFaults(red: readonly GateResult[], needs: Dependencies, input: DiagnosisInput): Fault[] {
  return engineFaults(red, ['build'], needs, input)
    .map(({ suspects }) => ({ suspects: suspects.filter(({ distance }) => distance === 1) }))
    .filter(({ suspects }) => suspects.length > 0);
}

function nameSuspect(contract: string, findings: readonly Finding[]): RankedSuspect {
  const evidence = findings.map(({ gate, message }) => `${gate}: ${message}`);
  return { contract, evidence, findings: findings.slice(0, maxFindings), distance: 0 };
}

function namedByContractGates(red: readonly GateResult[]): string[] {
  return red
    .filter(({ gate }) => (contractGates as readonly string[]).includes(gate))
    .flatMap(({ findings }) => findings.flatMap(({ contract }) => contract ?? []));
}

/** The most telling red gate of a family names contracts; what they need may be the cause as well. */
function engineFaults(
  red: readonly GateResult[],
  family: readonly GateName[],
  needs: Dependencies,
  input: DiagnosisInput,
): Fault[] {
  const leading = family.find((gate) => red.some((result) => result.gate === gate));
  const result = red.find(({ gate }) => gate === leading);
  if (result === undefined) return [];
  const named = [...new Set(result.findings.flatMap(({ contract }) => contract ?? []))];
  // What is wrong by itself explains what is seen at whoever needs it.
  const apart = namedByContractGates(red).filter((id) => input.written.has(id));
  const causes = [...named, ...apart];
  const roots = named.filter(
    (id) => !apart.includes(id) && !causes.some((other) => other !== id && needs.closureOf(id).has(other)),
  );
  return needs.inOrder(roots).map((root) => ({ suspects: rankAround(root, red, needs, input) }));
}

function rankAround(
  root: string,
  red: readonly GateResult[],
  needs: Dependencies,
  { written, tried }: DiagnosisInput,
): RankedSuspect[] {
  const findings = red.flatMap((gate) => gate.findings).filter(({ contract }) => contract === root);
  const closure = needs.closureOf(root);
  const toSuspect = (id: string): RankedSuspect => {
    if (id === root) return nameSuspect(root, findings);
    const isNeeded = closure.has(id);
    // What knowledge holds is verified: where it does the wrong thing, whoever calls it calls it wrongly.
    const isCaller = !written.has(root) && needs.closureOf(id).has(root);
    const distance = isCaller ? 1 : !isNeeded ? 3 : needs.hasUnitGate(id) ? 2 : 1;
    const why = isCaller
      ? `it needs ${root}, which the gate names and which comes from verified knowledge: it may call it wrongly`
      : !isNeeded
        ? `nothing points to it but that an agent wrote it; the gate names ${root}`
        : `${root}, which the gate names, needs it; ${distance === 1 ? 'it has no unit gate' : 'its unit gate is green'}`;
    const first = findings[0];
    return {
      contract: id,
      evidence: first === undefined ? [why] : [`${first.gate}: ${first.message}`, why],
      findings: findings.slice(0, maxFindings).map((finding) => readdress(finding, id, root, isCaller)),
      distance,
    };
  };
  const rank = ({ contract, distance }: RankedSuspect): number =>
    distance + (tried?.has(contract) === true ? 4 : 0);
  const order = needs.inOrder([...written]);
  // Of equals, what stands nearer to the contract that was named comes first.
  const nearness = ({ contract }: RankedSuspect): number =>
    needs.closureOf(contract).has(root) ? order.indexOf(contract) : -order.indexOf(contract);
  return order.map(toSuspect).sort((a, b) => rank(a) - rank(b) || nearness(a) - nearness(b));
}

/** The finding as another contract's agent is told it. */
function readdress(finding: Finding, contract: string, named: string, isCaller: boolean): Finding {
  const relation = isCaller ? 'which this contract needs' : 'which needs this contract';
  return {
    ...finding,
    contract,
    ...{ file: null, line: null },
    message: `${finding.message} (seen at ${named}, ${relation})`.slice(0, 4000),
  };
}

function eachOnce(suspects: readonly RankedSuspect[]): RankedSuspect[] {
  const merged = new Map<string, RankedSuspect>();
  for (const suspect of suspects) {
    const { contract, evidence, findings, distance } = suspect;
    const known = merged.get(contract);
    if (known === undefined) merged.set(contract, suspect);
    else if (known.distance === distance && known.findings[0] !== findings[0]) {
      merged.set(contract, {
        ...known,
        evidence: [...known.evidence, ...evidence],
        findings: [...known.findings, ...findings],
      });
    }
  }
  return [...merged.values()];
}
