import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkProvenance } from '../../../src/generation/check-provenance.ts';
import { Report } from '../../../src/model/report.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { makeTestCache } from '../../fixtures/test-cache.ts';
import { repliesFromKnowledge } from '../../support/model-server/knowledge-replies.ts';
import { type AgentBuild, buildWithAgents, selectionFor, tinyRequest } from './agent-build.ts';

const cacheFolder = makeTestCache(mkdtempSync(join(tmpdir(), 'metainfer-zero-')));
let build: AgentBuild;
let contracts: readonly string[];

beforeAll(async () => {
  const catalog = await openKnowledge(cacheFolder);
  const selection = await selectionFor(tinyRequest, catalog);
  contracts = selection.contracts
    .filter(({ realization }) => realization !== undefined)
    .map(({ contract }) => contract.frontMatter.id);
  build = await buildWithAgents({
    cacheFolder,
    catalog,
    request: { ...tinyRequest, generation: { mode: 'zero-reference' } },
    server: { replies: repliesFromKnowledge(selection) },
  });
}, 900_000);
afterAll(async () => {
  await build.close();
  rmSync(cacheFolder, { recursive: true, force: true });
});

/** What says something by itself: no comment, no brace, no include. */
function tellingLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length > 12 && !/^(?:\/\/|#|\}|return )/.test(line));
}

describe('an engine that agents write from contracts alone', () => {
  it('passes every gate, contract by contract in dependency order', () => {
    expect(build.state).toMatchObject({ status: 'passed' });
    const written = build.papers.attempts.map(({ contract }) => contract);
    expect([...written].toSorted()).toEqual([...contracts].toSorted());
    expect(build.papers.attempts.every(({ outcome }) => outcome === 'accepted')).toBe(true);
    expect(written.indexOf('norm.rms')).toBeLessThan(written.indexOf('decoder.model'));
  });

  it('was asked for without a word of any realization', async () => {
    const catalog = await openKnowledge(cacheFolder);
    const prompts = build.server.log
      .filter(({ role, attempt }) => role === 'implementer' && attempt === 1)
      .map(({ prompt }) => new Set(prompt.split('\n').map((line) => line.trim())));
    expect(prompts.length).toBe(contracts.length);
    const shown = catalog.contracts.flatMap((contract) => {
      const stated = new Set(
        `${contract.body}\n${contract.header.text}`.split('\n').map((line) => line.trim()),
      );
      return contract.realizations.flatMap(({ file, text }) => {
        const own = tellingLines(text).filter((line) => !stated.has(line));
        const most = Math.max(...prompts.map((lines) => own.filter((line) => lines.has(line)).length));
        return most > 3 ? [`${contract.folder}/${file}: ${most} lines`] : [];
      });
    });
    expect(shown).toEqual([]);
  });

  it('says of every source which model wrote it, and of the run what it took', async () => {
    const folder = join(build.folder, 'engine');
    const { provenance, problems } = await checkProvenance(folder);
    expect(problems).toEqual([]);
    const byAgents = provenance!.files.filter(({ origin }) => origin.kind === 'agent');
    expect(byAgents.length).toBe(contracts.length);
    const report = Report.parse(JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')));
    const { generation } = report;
    expect(generation).toMatchObject({ mode: 'zero-reference', isRealModel: false, firstPass: null });
    expect(generation!.spent.calls).toBe(build.server.count().requests);
    expect(generation!.spent.promptTokens).toBe(build.server.count().promptTokens);
    expect(Object.keys(generation!.byContract).toSorted()).toEqual([...contracts].toSorted());
    // The double answers with our own texts, and similarity must say so.
    expect(generation!.similarity.every(({ share }) => share > 0.95)).toBe(true);
  });
});
