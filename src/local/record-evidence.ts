import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { AppError } from '../model/errors.ts';
import { keepReport, makeEvidence } from '../model/evidence-entry.ts';
import { knowledgeRoot } from '../preparation/knowledge-base.ts';
import type { PreparedEngine } from '../preparation/prepare-engine.ts';
import { hashEngineTree } from '../verification/engine-tree.ts';
import { readReport } from './local-runner.ts';

/**
 * Keeps the report of a passed engine under knowledge/reports by its hash, and adds one entry to the evidence of every
 * realization in it. The report must be about the engine as it is, made of the knowledge as it is.
 * @throws AppError ENGINE_INVALID where it is not, or did not pass
 */
export async function recordEvidence(
  prepared: PreparedEngine,
  folder: string,
): Promise<{ report: string; contracts: number }> {
  const report = await readReport(folder);
  if (report.verdict !== 'passed' || report.benchmark === null) {
    throw new AppError(
      'ENGINE_INVALID',
      `${folder} has no passed report with a benchmark: run \`metainfer build\` first.`,
    );
  }
  if (report.engine.treeSha256 !== hashEngineTree(folder)) {
    throw new AppError('ENGINE_INVALID', `${folder} was changed since its report was made.`);
  }
  const { path: reportPath, text, sha256 } = keepReport(report);
  await mkdir(join(knowledgeRoot(), 'reports'), { recursive: true });
  await writeFile(join(knowledgeRoot(), reportPath), text);
  let contracts = 0;
  for (const selected of prepared.selection.contracts) {
    if (selected.realization === undefined) continue;
    const { constraints } = prepared.request;
    const fresh = makeEvidence(selected.contract, selected.realization, {
      constraints,
      report,
      reportSha256: sha256,
    });
    const kept = selected.contract.evidence.filter(
      (entry) =>
        entry.hashes.realization === selected.realization?.sha256 ||
        entry.realization !== selected.realization?.file,
    );
    const path = join(knowledgeRoot(), 'contracts', selected.contract.folder, 'evidence.yaml');
    await writeFile(path, stringify([...kept, fresh], { lineWidth: 110 }));
    contracts++;
  }
  return { report: sha256, contracts };
}

/** Reports that evidence names, by hash: for the check that every one of them is there and unchanged. */
export async function readKeptReport(name: string): Promise<{ sha256: string; text: string }> {
  const text = await readFile(join(knowledgeRoot(), 'reports', name), 'utf8');
  return { sha256: createHash('sha256').update(text).digest('hex'), text };
}
