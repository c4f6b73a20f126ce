import { askDiagnoser } from '../generation/agents/ask-diagnoser.ts';
import { briefContract } from '../generation/agents/contract-brief.ts';
import { toRepairFinding } from '../generation/agents/repair-finding.ts';
import type { AgentFile, AgentWork, RepairFinding } from '../model/agent-work.ts';
import type { Selection } from '../model/catalog.ts';
import type { LanguageModel } from '../model/language-model.ts';
import type { GateResult } from '../model/report.ts';
import { diagnose, type GateDiagnosis, type RankedSuspect } from '../verification/diagnose.ts';

export interface EngineDiagnosisInput {
  readonly gates: readonly GateResult[];
  readonly selection: Selection;
  readonly work: AgentWork;
  readonly files: ReadonlyMap<string, AgentFile>;
  /** Tries suspects out, likeliest first, and names the one whose replacement turns the red gates green. */
  readonly bisect?: (suspects: readonly string[]) => Promise<string | undefined>;
  /** Asked only where several contracts stay equally suspect. */
  readonly model: LanguageModel | undefined;
  readonly signal: AbortSignal;
}

export interface EngineDiagnosis {
  /** Likeliest first. */
  readonly suspects: readonly string[];
  /** What the agents of the contracts to be written again are told. */
  readonly findings: readonly RepairFinding[];
  /** How a tie was broken, for the log. */
  readonly notes: readonly string[];
}

/** Suspects of one fault that are worth a model's or a runner's time. */
const mostCandidates = 6;

/**
 * Who is to repair a red verdict: by the findings and the dependencies first, by trying out where that is possible, by a
 * model's opinion only where neither decides.
 */
export async function diagnoseEngine(input: EngineDiagnosisInput): Promise<EngineDiagnosis> {
  const { work, selection } = input;
  const found = diagnose({
    gates: input.gates,
    selection,
    written: new Set(work.contracts.map(({ contract }) => contract)),
    tried: new Set(
      work.contracts
        .filter(({ attempts, totalAttempts }) => totalAttempts > attempts)
        .map(({ contract }) => contract),
    ),
  });
  const { guilty, note } = found.isAmbiguous
    ? await breakTie(found, input)
    : { guilty: found.guilty, note: null };
  return {
    suspects: [...new Set([...guilty, ...found.suspects].map(({ contract }) => contract))],
    findings: guilty.flatMap((suspect) => repairFindings(suspect, selection)),
    notes: note === null ? [] : [note],
  };
}

/** Those named by a gate stay; of the equally suspect ones one is chosen. */
async function breakTie(
  found: GateDiagnosis,
  input: EngineDiagnosisInput,
): Promise<{ readonly guilty: readonly RankedSuspect[]; readonly note: string | null }> {
  const sure = found.guilty.filter(({ distance }) => distance === 0);
  const candidates = found.suspects
    .filter((suspect) => suspect.distance > 0 && !sure.includes(suspect))
    .slice(0, mostCandidates);
  const choose = (contract: string): readonly RankedSuspect[] => [
    ...sure,
    ...candidates.filter((suspect) => suspect.contract === contract),
  ];
  const tried = await input.bisect?.(candidates.map(({ contract }) => contract));
  if (tried !== undefined)
    return {
      guilty: choose(tried),
      note: `${tried}: with the realization of knowledge in its place the gate is green`,
    };
  if (input.model === undefined) return { guilty: found.guilty, note: null };
  const ids = new Set(candidates.map(({ contract }) => contract));
  const diagnosis = await askDiagnoser(
    {
      suspects: candidates,
      findings: input.gates.flatMap(({ findings }) => findings).slice(0, 12),
      briefs: input.selection.contracts
        .filter(({ contract }) => ids.has(contract.frontMatter.id))
        .map(({ contract }) => briefContract(contract)),
      files: [...input.files.values()].filter(({ contract }) => ids.has(contract)),
    },
    { model: input.model, phase: 'diagnosis', attempt: input.work.round, signal: input.signal },
  );
  const [first] = diagnosis.ranking;
  if (diagnosis.note !== null || first === undefined)
    return { guilty: found.guilty, note: `the model's ranking was of no use (${diagnosis.note ?? 'empty'})` };
  return {
    guilty: choose(first.contract),
    note: `${first.contract}: a model holds it the likeliest (${first.reason})`,
  };
}

function repairFindings(suspect: RankedSuspect, selection: Selection): RepairFinding[] {
  const owner = selection.contracts.find(({ contract }) => contract.frontMatter.id === suspect.contract);
  return owner === undefined
    ? []
    : suspect.findings.map((finding) => toRepairFinding(finding, owner.contract));
}
