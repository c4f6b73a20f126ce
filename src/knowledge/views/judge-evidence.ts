import type { Contract, Evidence, Realization } from '../../model/contract.ts';
import type { ExampleRequest, KeptReport, PartEvidence } from '../../model/coverage.ts';
import { evidenceStates } from '../../model/coverage.ts';
import type { Report } from '../../model/report.ts';
import { allowedValues, firstMismatch, type Target } from '../../model/target.ts';
import type { KnowledgeView } from './knowledge-view.ts';

interface Judged extends PartEvidence {
  /** The constraint file whose engine ran; only where the run can be repeated. */
  readonly example?: ExampleRequest;
}

type Verdict = Pick<Judged, 'state' | 'says' | 'example' | 'report'>;

/** The best of what is recorded for a realization on a target. Of equal entries the newest counts. */
export function judgeEvidence(
  view: KnowledgeView,
  contract: Contract,
  realization: Realization,
  target: Target,
): Judged {
  const platform = String(target['hardware.platform']);
  const verdicts = contract.evidence
    .filter((entry) => entry.realization === realization.file && isOn(entry, platform))
    .map((entry) => judgeEntry(view, contract, realization, entry, target))
    .reverse()
    .sort((a, b) => evidenceStates.indexOf(a.state) - evidenceStates.indexOf(b.state));
  const best: Verdict = verdicts[0] ?? {
    ...{ state: 'absent', report: null },
    says: `no run on ${platform} is recorded`,
  };
  return {
    ...{ contract: contract.frontMatter.id, realization: realization.file, platform },
    arch: String(target['hardware.arch']),
    weights: String(target['numerics.weights']),
    ...best,
    repeat: best.example === undefined ? [] : commandsOf(best.example, view.reports, best.report),
  };
}

function isOn(entry: Evidence, platform: string): boolean {
  return allowedValues(entry.applies, 'hardware.platform')?.includes(platform) === true;
}

function judgeEntry(
  view: KnowledgeView,
  contract: Contract,
  realization: Realization,
  entry: Evidence,
  target: Target,
): Verdict {
  const stale = staleParts(contract, realization, entry);
  const none = { report: null };
  if (stale.length > 0)
    return {
      ...none,
      state: 'stale',
      says: `the ${stale.join(' and the ')} changed since the run of ${entry.date}`,
    };
  const mismatch = firstMismatch(entry.applies, target);
  if (mismatch !== undefined) {
    const seen = allowedValues(entry.applies, mismatch)?.join(', ');
    return {
      ...none,
      state: mismatch === 'hardware.arch' ? 'on another arch' : 'for another target',
      says: `it ran with ${mismatch} = ${seen}, not ${target[mismatch]}`,
    };
  }
  const kept = view.reports.find(({ sha256 }) => sha256 === bare(entry.report));
  if (kept?.report === undefined)
    return {
      ...none,
      state: 'report missing',
      says: `knowledge/reports has no report ${bare(entry.report).slice(0, 16)}`,
    };
  return { report: kept.file, ...judgeReport(kept.report, entry, view.examples) };
}

/** What the hashes of an entry are about and is another text now. */
function staleParts(contract: Contract, realization: Realization, { hashes }: Evidence): string[] {
  const gate = contract.gateSha256 ?? contract.sha256;
  return [
    ...(bare(hashes.realization) === realization.sha256 ? [] : ['realization']),
    ...(bare(hashes.contract) === contract.sha256 ? [] : ['contract']),
    ...(bare(hashes.gate) === gate ? [] : ['gate']),
  ];
}

function judgeReport(
  report: Report,
  entry: Evidence,
  examples: readonly ExampleRequest[],
): Omit<Verdict, 'report'> {
  const faults = report.gates.filter(({ status }) => status === 'failed' || status === 'not-run');
  if (report.verdict !== 'passed' || faults.length > 0)
    return { state: 'not passed', says: `its report says ${report.verdict}` };
  if (report.gates.some(({ ranOn }) => ranOn === 'emulation'))
    return { state: 'emulated', says: 'it ran in emulation, not on a device' };
  const example = examples.find(
    ({ name, constraintsSha256 }) =>
      name === report.engine.name && constraintsSha256 === report.inputs.constraintsSha256,
  );
  if (example === undefined)
    return {
      state: 'command missing',
      says: `knowledge/examples has no constraint file of the engine ${report.engine.name} as it ran`,
    };
  if (entry.repeat !== verifyCommand(report))
    return { state: 'command missing', says: `"${entry.repeat}" is not the command of its report` };
  return {
    ...{ state: 'repeatable', example },
    says: `${report.engine.name} passed on ${entry.device.cpu}, ${entry.date}`,
  };
}

/** The engine is not kept: its constraint file makes it again, the same bytes each time. */
function commandsOf(
  example: ExampleRequest,
  reports: readonly KeptReport[],
  file: string | null,
): readonly string[] {
  const report = reports.find((kept) => kept.file === file)?.report;
  return report === undefined
    ? []
    : [`npx metainfer generate ${example.file} -o engines/${report.engine.name}`, verifyCommand(report)];
}

function verifyCommand({ engine, inputs }: Report): string {
  return `npx metainfer verify engines/${engine.name} --seed ${inputs.runSeed}`;
}

function bare(sha256: string): string {
  return sha256.replace('sha256:', '');
}
