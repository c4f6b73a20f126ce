import type { Evidence } from '../../model/contract.ts';
import type { Problem } from '../../model/problem.ts';
import type { LoadedContract } from '../contract-folder.ts';
import { compareWithReport } from './compare-with-report.ts';
import { entryProblem, listNewEntries } from './evidence-entries.ts';
import { readKeptReport } from './kept-reports.ts';
import { bareHash, isSameEvidence, type KnowledgeChange, type KnowledgeSide } from './knowledge-side.ts';

/** Evidence says what its reports say, of the files as they are, and none of it disappears. */
export function checkEvidence(change: KnowledgeChange): Problem[] {
  const { before, after } = change;
  return [
    ...[...after.contracts.values()].flatMap((loaded) => [
      ...checkEntries(loaded, change),
      ...listStale(loaded, change),
    ]),
    ...[...before.contracts.values()].flatMap((old) => checkKept(old, after)),
    ...checkReportNames(after),
  ];
}

function checkEntries(loaded: LoadedContract, { before, after }: KnowledgeChange): Problem[] {
  const fresh = new Set(listNewEntries(loaded, before).map(({ index }) => index));
  return loaded.contract.evidence.flatMap((entry, index): Problem[] => {
    const file = after.reports.get(bareHash(entry.report));
    if (file === undefined) {
      const message = `no file of knowledge/reports has the hash ${bareHash(entry.report).slice(0, 16)}…`;
      const suggestion =
        'Commit the report that the run wrote, byte for byte as `metainfer knowledge evidence` kept it.';
      return [entryProblem(loaded, [index, 'report'], 'report-missing', message, suggestion)];
    }
    if (!fresh.has(index)) return [];
    const { report, problems } = readKeptReport(file);
    if (report === undefined) return [...problems];
    return [
      ...findRepeats(loaded, entry, index),
      ...checkHashes(loaded, entry, index),
      ...compareWithReport({ loaded, entry, index, report, platforms: after.platforms }),
    ];
  });
}

function findRepeats({ contract, ...loaded }: LoadedContract, entry: Evidence, index: number): Problem[] {
  const first = contract.evidence.findIndex(
    (other) => other.realization === entry.realization && bareHash(other.report) === bareHash(entry.report),
  );
  if (first === index) return [];
  const message = `${entry.realization} with this report stands in entry ${first} already; a run counts once`;
  return [entryProblem({ contract, ...loaded }, [index, 'report'], 'evidence-repeated', message)];
}

/** A new entry is about the files as this change leaves them: older ones were never what its report saw. */
function checkHashes(loaded: LoadedContract, entry: Evidence, index: number): Problem[] {
  const { contract } = loaded;
  const realization = contract.realizations.find(({ file }) => file === entry.realization);
  const wanted = {
    contract: contract.sha256,
    realization: realization?.sha256,
    gate: contract.gateSha256 ?? contract.sha256,
  };
  return (['contract', 'realization', 'gate'] as const).flatMap((name) => {
    const expected = wanted[name];
    const found = bareHash(entry.hashes[name]);
    if (expected === undefined || expected === found) return [];
    const message = `the ${name} of this run was ${found.slice(0, 16)}…, and this change has ${expected.slice(0, 16)}…: the run says nothing about it`;
    const suggestion =
      'Run `metainfer build` and `metainfer knowledge evidence` again on the files of this change.';
    return [entryProblem(loaded, [index, 'hashes', name], 'evidence-of-another-file', message, suggestion)];
  });
}

/** Evidence that a change of its contract or gate made stale, unless the same realization has a newer entry. */
function listStale(loaded: LoadedContract, { before }: KnowledgeChange): Problem[] {
  const { contract } = loaded;
  const old = before.contracts.get(contract.frontMatter.id)?.contract;
  if (old === undefined) return [];
  const gate = contract.gateSha256 ?? contract.sha256;
  const isChanged = old.sha256 !== contract.sha256 || (old.gateSha256 ?? old.sha256) !== gate;
  if (!isChanged) return [];
  const isFresh = ({ hashes }: Evidence) =>
    bareHash(hashes.contract) === contract.sha256 && bareHash(hashes.gate) === gate;
  return contract.realizations.flatMap(({ file, sha256 }): Problem[] => {
    const entries = contract.evidence.filter(
      ({ realization, hashes }) => realization === file && bareHash(hashes.realization) === sha256,
    );
    if (entries.length === 0 || entries.some(isFresh)) return [];
    const index = contract.evidence.indexOf(entries.at(-1)!);
    const message = `the ${entries.length === 1 ? 'run' : `${entries.length} runs`} of ${file} ${entries.length === 1 ? 'was' : 'were'} judged by another text of this contract or gate: merged like this, ${file} counts as composed, not as verified`;
    const suggestion =
      'Renew it: `metainfer build` and `metainfer knowledge evidence` on the files of this change.';
    const stale = entryProblem(loaded, [index, 'hashes'], 'evidence-stale', message, suggestion);
    return [{ ...stale, severity: 'warning' }];
  });
}

/** An entry may go only when its realization is gone or is another text now. */
function checkKept(old: LoadedContract, after: KnowledgeSide): Problem[] {
  const { contract } = old;
  const loaded = after.contracts.get(contract.frontMatter.id);
  // An unreadable contract or evidence file is told by the loader; one that is gone took its realizations along.
  if (loaded === undefined || (loaded.evidenceYaml?.problems.length ?? 0) > 0) return [];
  const kept = loaded.contract.evidence;
  return contract.evidence
    .filter((entry) => !kept.some((known) => isSameEvidence(known, entry)))
    .filter(({ realization, hashes }) => {
      const present = loaded.contract.realizations.find(({ file }) => file === realization);
      return present?.sha256 === bareHash(hashes.realization);
    })
    .map((entry) => {
      const { realization, report, date } = entry;
      const changed = kept.findIndex(
        (known) => known.realization === realization && bareHash(known.report) === bareHash(report),
      );
      const what = changed < 0 ? 'is gone' : 'was changed';
      const message = `the entry of ${realization} of ${date} (report ${bareHash(report).slice(0, 16)}…) ${what}, though the realization is what it was; evidence is append only`;
      return entryProblem(loaded, changed < 0 ? [] : [changed], 'evidence-removed', message);
    })
    .map((problem) => ({ ...problem, line: problem.line ?? 1 }));
}

function checkReportNames(after: KnowledgeSide): Problem[] {
  return [...after.reports.values()].flatMap(({ path, sha256 }): Problem[] => {
    if (path.endsWith(`-${sha256.slice(0, 16)}.json`)) return [];
    const message = `the content has the hash ${sha256.slice(0, 16)}…, which the name does not end in: it was changed, or never kept by \`metainfer evidence\``;
    return [{ severity: 'error', code: 'report-changed', file: path, line: 1, message }];
  });
}
