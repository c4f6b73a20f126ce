import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCatalog } from '../../src/knowledge/load-catalog.ts';
import { readKeptReport } from '../../src/local/record-evidence.ts';
import { Report } from '../../src/model/report.ts';
import { knowledgeRoot } from '../../src/preparation/knowledge-base.ts';

describe('the evidence of the realizations', async () => {
  const { catalog } = await loadCatalog(knowledgeRoot());
  const names = readdirSync(join(knowledgeRoot(), 'reports'));
  const kept = new Map(
    await Promise.all(
      names.map(async (name) => {
        const { sha256, text } = await readKeptReport(name);
        return [`sha256:${sha256}` as string, Report.parse(JSON.parse(text))] as const;
      }),
    ),
  );
  const entries = (catalog?.contracts ?? []).flatMap((contract) =>
    contract.evidence.map((evidence) => ({ contract, evidence })),
  );

  it('names reports that are kept, unchanged, passed and about the same run', () => {
    expect(entries.length).toBeGreaterThan(20);
    for (const { evidence } of entries) {
      const report = kept.get(evidence.report);
      expect(report?.verdict, evidence.report).toBe('passed');
      expect(evidence.repeat).toContain(String(report?.inputs.runSeed));
    }
  });

  it('is, the newest of each realization, about the contract, realization and gate as they are now', () => {
    const newest = new Map(
      entries.map((entry) => [`${entry.contract.frontMatter.id}/${entry.evidence.realization}`, entry]),
    );
    const stale = [...newest].filter(([, { contract, evidence }]) => {
      const realization = contract.realizations.find((candidate) => candidate.file === evidence.realization);
      const gate = contract.gateSha256 ?? contract.sha256;
      return (
        evidence.hashes.realization !== realization?.sha256 ||
        evidence.hashes.contract !== contract.sha256 ||
        evidence.hashes.gate !== gate
      );
    });
    expect(stale.map(([name]) => name)).toEqual([]);
  });
});
