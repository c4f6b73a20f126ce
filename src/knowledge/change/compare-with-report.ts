import type { Platform } from '../../model/catalog.ts';
import type { Evidence } from '../../model/contract.ts';
import { figuresOf } from '../../model/evidence-entry.ts';
import type { Problem } from '../../model/problem.ts';
import type { Report } from '../../model/report.ts';
import { allowedValues, canOverlap } from '../../model/target.ts';
import type { LoadedContract } from '../contract-folder.ts';
import { entryProblem } from './evidence-entries.ts';

export interface EvidenceClaim {
  readonly loaded: LoadedContract;
  readonly entry: Evidence;
  /** In evidence.yaml. */
  readonly index: number;
  readonly report: Report;
  readonly platforms: readonly Platform[];
}

/** What an entry claims against what its report holds; each difference at its own line. */
export function compareWithReport(claim: EvidenceClaim): Problem[] {
  const { loaded, index } = claim;
  const differing = (path: (string | number)[], found: unknown, expected: unknown): Problem[] => {
    if (found === expected) return [];
    const message = `the report says ${JSON.stringify(expected)}, this entry ${JSON.stringify(found)}`;
    return [entryProblem(loaded, [index, ...path], 'evidence-not-as-reported', message)];
  };
  const { entry, report } = claim;
  const threads = threadsOf(report);
  return [
    ...differing(['device', 'cpu'], entry.device.cpu, report.environment.cpu),
    ...(threads === undefined ? [] : differing(['device', 'threads'], entry.device.threads, threads)),
    ...differing(['toolchain'], entry.toolchain, report.environment.compiler),
    ...differing(['date'], entry.date, report.startedAt.slice(0, 10)),
    ...differing(['repeat'], entry.repeat, repeatOf(report)),
    ...checkFigures(claim),
    ...checkPlace(claim),
  ];
}

function threadsOf({ benchmark }: Report): number | undefined {
  const threads = (benchmark as { engine?: { threads?: unknown } } | null)?.engine?.threads;
  return typeof threads === 'number' ? threads : undefined;
}

function repeatOf({ engine, inputs }: Report): string {
  return `npx metainfer verify engines/${engine.name} --seed ${inputs.runSeed}`;
}

function checkFigures({ loaded, entry, index, report }: EvidenceClaim): Problem[] {
  const known = figuresOf(report);
  return Object.entries(entry.figures).flatMap(([name, claimed]): Problem[] => {
    const stated = known[name] ?? statedElsewhere(report, loaded.contract.frontMatter.id, name);
    const path = [index, 'figures', name];
    if (stated === undefined)
      return [entryProblem(loaded, path, 'figure-not-in-report', `the report holds no figure ${name}`)];
    if (round(stated) === round(claimed)) return [];
    const message = `the report says ${round(stated)}, this entry ${claimed}`;
    return [entryProblem(loaded, path, 'evidence-not-as-reported', message)];
  });
}

/** Figures beyond those that every entry shows: of a gate, or what agents needed for this contract. */
function statedElsewhere({ gates, generation }: Report, contract: string, name: string): number | undefined {
  const spent = generation?.byContract[contract];
  if (name === 'agent_prompt_tokens') return spent?.promptTokens;
  if (name === 'agent_output_tokens') return spent?.completionTokens;
  const value = gates.map(({ measurements }) => measurements[name]).find((one) => typeof one === 'number');
  return typeof value === 'number' ? value : undefined;
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}

/** The platform, its flags and the realization that the entry names are those of the run. */
function checkPlace({ loaded, entry, index, report, platforms }: EvidenceClaim): Problem[] {
  const refuse = (key: string, message: string) =>
    entryProblem(loaded, [index, 'applies', key], 'evidence-not-as-reported', message);
  const { compilerFlags, cuda } = report.environment;
  const problems: Problem[] = [];
  const realization = loaded.contract.realizations.find(({ file }) => file === entry.realization);
  if (realization !== undefined && !canOverlap(entry.applies, realization.applies))
    problems.push(refuse('', `${entry.realization} does not apply to what this entry was measured on`));
  for (const id of allowedValues(entry.applies, 'hardware.platform') ?? []) {
    const platform = platforms.find((known) => known.id === id);
    if (platform === undefined) problems.push(refuse('hardware.platform', `there is no platform ${id}`));
    else if ((platform.gpu !== undefined) !== (cuda !== undefined))
      problems.push(
        refuse(
          'hardware.platform',
          `the report is of ${cuda ? 'a GPU' : 'a processor'}, this entry claims ${id}`,
        ),
      );
    for (const arch of allowedValues(entry.applies, 'hardware.arch') ?? []) {
      const missing = (platform?.archs[String(arch)]?.flags ?? []).filter(
        (flag) => !compilerFlags.includes(flag),
      );
      if (missing.length > 0)
        problems.push(
          refuse('hardware.arch', `the report's engine was compiled without ${missing.join(' ')}`),
        );
    }
  }
  return problems;
}
