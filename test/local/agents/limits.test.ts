import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Catalog, Selection } from '../../../src/model/catalog.ts';
import { tokensOf } from '../../../src/model/spending.ts';
import { exitCodeOf } from '../../../src/pipeline/exit-code.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { makeTestCache } from '../../fixtures/test-cache.ts';
import { repliesFromKnowledge } from '../../support/model-server/knowledge-replies.ts';
import {
  type AgentBuild,
  buildWithAgents,
  selectionFor,
  tinyRequest,
  withoutRealizationsOf,
} from './agent-build.ts';

const cacheFolder = makeTestCache(mkdtempSync(join(tmpdir(), 'metainfer-limits-')));
const builds: AgentBuild[] = [];
let catalog: Catalog;
let selection: Selection;

beforeAll(async () => {
  catalog = await openKnowledge(cacheFolder);
  selection = await selectionFor(tinyRequest, catalog);
});
afterAll(async () => {
  for (const build of builds) await build.close();
  rmSync(cacheFolder, { recursive: true, force: true });
});

/** norm.rms is what knowledge lacks here, and the model never gets it right: eps is left out. */
async function buildWithBadModel(settings: object = {}): Promise<AgentBuild> {
  const edits = [{ find: ' + config::rms_norm_eps', replace: '' }];
  const build = await buildWithAgents({
    cacheFolder,
    catalog: withoutRealizationsOf(catalog, selection, 'norm.rms'),
    server: { replies: repliesFromKnowledge(selection, { contracts: { 'norm.rms': { edits } } }) },
    settings,
  });
  builds.push(build);
  return build;
}

describe('a model that never gets it right', () => {
  it('is asked as often as attempts are allowed; the run then ends with the best state and what a person can do', async () => {
    const { state, server, folder, papers } = await buildWithBadModel();
    expect([state.status, exitCodeOf(state)]).toEqual(['failed', 1]);
    expect(server.count(({ role }) => role === 'implementer').requests).toBe(3);
    expect(papers.attempts.map(({ outcome }) => outcome)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(state.failure!.message).toMatch(/norm\.rms was not right after 3 attempts[\s\S]*norm\.rms#/);
    expect(state.failure!.next).toContain('attempts');
    const written = readFileSync(join(folder, 'engine', 'norm_rms.cpp'), 'utf8');
    expect(written).toBe(papers.versions.at(-1)!.text);
    expect(readFileSync(join(folder, 'engine', 'README.md'), 'utf8')).toContain('| `norm_rms.cpp` |');
  });

  it('spends no more than the hard limit, as the server counts it, and says how much a call would have needed', async () => {
    const hard = 25_000;
    const { state, server, folder } = await buildWithBadModel({
      limits: { hard_tokens: hard },
      max_output_tokens: 4096,
    });
    expect(state.failure).toMatchObject({ code: 'BUDGET_EXHAUSTED', step: 'generate' });
    expect(exitCodeOf(state)).toBe(2);
    const { requests, tokens } = server.count();
    expect(requests).toBeGreaterThan(0);
    expect(requests).toBeLessThan(3);
    expect(tokens).toBeLessThanOrEqual(hard);
    expect(tokensOf(state.agents!.spent)).toBeLessThanOrEqual(hard);
    expect(existsSync(join(folder, 'engine', 'norm_rms.cpp'))).toBe(true);
  });

  it('is not asked at all where the budget is less than one call needs', async () => {
    const { state, server, folder } = await buildWithBadModel({ limits: { hard_tokens: 500 } });
    expect(server.count().requests).toBe(0);
    expect(state.failure).toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    expect(existsSync(join(folder, 'engine', 'norm_rms.cpp'))).toBe(false);
    expect(readFileSync(join(folder, 'engine', 'README.md'), 'utf8')).toMatch(/incomplete/i);
  });

  it('counts what an endpoint does not report as spent', async () => {
    const edits = [{ find: ' + config::rms_norm_eps', replace: '' }];
    const build = await buildWithAgents({
      cacheFolder,
      catalog: withoutRealizationsOf(catalog, selection, 'norm.rms'),
      server: {
        replies: repliesFromKnowledge(selection, { contracts: { 'norm.rms': { edits } } }),
        endpoint: { usage: false },
      },
      settings: { limits: { hard_tokens: 60_000 }, max_output_tokens: 8192 },
    });
    builds.push(build);
    const { spent } = build.state.agents!;
    expect(spent.promptTokens + spent.completionTokens).toBe(0);
    expect(spent.unreportedTokens).toBeGreaterThanOrEqual(build.server.count().tokens);
    expect(spent.unreportedTokens).toBeLessThanOrEqual(60_000);
  });
});

describe('a machine without bubblewrap', () => {
  it('is told how to install it before a token is spent', async () => {
    const build = await buildWithAgents({
      cacheFolder,
      catalog: withoutRealizationsOf(catalog, selection, 'norm.rms'),
      server: { replies: repliesFromKnowledge(selection) },
      sandbox: 'off',
    });
    builds.push(build);
    expect(build.state.failure).toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    expect(build.state.failure!.message).toMatch(/apt(-get)? install bubblewrap/);
    expect(exitCodeOf(build.state)).toBe(3);
    expect(build.server.count().requests).toBe(0);
  });
});
