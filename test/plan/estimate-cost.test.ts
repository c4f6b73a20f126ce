import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/model/catalog.ts';
import type { Evidence } from '../../src/model/contract.ts';
import { LlmSettings } from '../../src/model/llm-settings.ts';
import { renderPlan } from '../../src/plan/render-plan.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { prepareEngine } from '../../src/preparation/prepare-engine.ts';
import type { Request } from '../../src/preparation/read-request.ts';
import { readExample } from '../fixtures/examples.ts';

let catalog: Catalog;
let request: Request;
beforeAll(async () => {
  catalog = await openKnowledge(mkdtempSync(join(tmpdir(), 'metainfer-cost-')));
  request = await readExample('smollm2-135m.yaml', catalog, 'mode: zero-reference');
});

const agents = { hasModel: true };
const settings = (more: object = {}) =>
  LlmSettings.parse({ base_url: 'http://127.0.0.1:1/v1', model: 'm', ...more });
const prices = { m: { input: 2, output: 10 }, r: { input: 1, output: 1 } };

function costOf(llm?: LlmSettings, from = catalog) {
  return prepareEngine(request, from, { agents, llm }).plan.cost;
}

function withEvidence(figures: readonly Record<string, number>[], platform = 'cpu-x86_64'): Catalog {
  const evidence = figures.map(
    (entry) => ({ figures: entry, applies: { 'hardware.platform': platform } }) as unknown as Evidence,
  );
  const contracts = catalog.contracts.map((contract) =>
    contract.frontMatter.id === 'norm.rms' ? { ...contract, evidence } : contract,
  );
  return { ...catalog, contracts };
}

describe('the expected cost', () => {
  it('grows with the contract and with what it requires, and sums up', () => {
    const { contracts, modelTokens } = costOf();
    const of = (id: string) => contracts.find(({ contract }) => contract === id)!;
    expect(of('decoder.model').promptTokens).toBeGreaterThan(of('embedding.token').promptTokens);
    expect(of('harness.protocol').outputTokens).toBeGreaterThan(of('norm.rms').outputTokens);
    expect(contracts.every(({ basis }) => basis === "the contract's size")).toBe(true);
    const sum = contracts.reduce((total, entry) => total + entry.promptTokens + entry.outputTokens, 0);
    expect(modelTokens).toBe(sum);
  });

  it('is less without a reviewer', () => {
    expect(costOf(settings({ review: false })).modelTokens).toBeLessThan(
      0.7 * costOf(settings()).modelTokens!,
    );
  });

  it('is the mean of verified runs on this platform where evidence says what agents needed', () => {
    const runs = [
      { agent_prompt_tokens: 1000, agent_output_tokens: 100 },
      { agent_prompt_tokens: 2001, agent_output_tokens: 200 },
      { max_abs: 1e-6 },
    ];
    const normOf = (from: Catalog) =>
      costOf(undefined, from).contracts.find(({ contract }) => contract === 'norm.rms');
    expect(normOf(withEvidence(runs))).toMatchObject({
      ...{ promptTokens: 1501, outputTokens: 150, basis: 'measured: 2 runs' },
    });
    expect(normOf(withEvidence(runs, 'cuda'))?.basis).toBe("the contract's size");
  });

  it('is in dollars where every model that is asked has a price', () => {
    expect(costOf().usd).toBeNull();
    expect(costOf(settings()).usd).toBeNull();
    const one = costOf(settings({ prices, review: false }));
    const [prompt, output] = (['promptTokens', 'outputTokens'] as const).map((key) =>
      one.contracts.reduce((sum, entry) => sum + entry[key], 0),
    );
    expect(one.usd).toBeCloseTo((2 * prompt! + 10 * output!) / 1e6, 9);
    const cheapReview = costOf(settings({ prices, roles: { reviewer: { model: 'r' } } }));
    expect(cheapReview.usd).toBeLessThan(costOf(settings({ prices })).usd!);
    expect(costOf(settings({ prices, roles: { reviewer: { model: 'free' } } })).usd).toBeNull();
  });

  it('is nothing, in tokens and dollars, where knowledge fills everything', async () => {
    const known = await readExample('smollm2-135m.yaml', catalog);
    expect(prepareEngine(known, catalog, { agents, llm: settings() }).plan.cost).toEqual({
      ...{ modelTokens: 0, usd: 0, limitTokens: 2_000_000, contracts: [] },
    });
  });
});

describe('the hash of a plan', () => {
  it('depends neither on prices nor on limits nor on the device', () => {
    const hash = (llm?: LlmSettings) => prepareEngine(request, catalog, { agents, llm }).planSha256;
    expect(hash(settings({ prices, limits: { hard_tokens: 5 }, review: false }))).toBe(hash());
    const device = { bytesPerSecond: 1e9, flopsPerSecond: null, source: 'stated' } as const;
    expect(prepareEngine(request, catalog, { agents, device }).planSha256).toBe(hash());
  });

  it('depends on who fills the contracts', () => {
    const [without, withModel] = [
      prepareEngine(request, catalog).planSha256,
      prepareEngine(request, catalog, { agents }).planSha256,
    ];
    expect(without).not.toBe(withModel);
  });
});

describe('a plan with agents', () => {
  const show = (llm?: LlmSettings) => renderPlan(prepareEngine(request, catalog, { agents, llm }).plan);

  it('says who writes what, what it is expected to cost, and the limit', () => {
    const text = show(settings({ prices }));
    expect(text).toMatch(
      /\*\*Covered\*\*: 24 contracts, 22 of them by agents, 52 files; needs about \d{3},\d{3} model tokens\./,
    );
    expect(text).toMatch(
      /\| norm\.rms +\| 1\.0\.0 +\| agent \(a model writes it\) \| zero-reference: an agent writes it/,
    );
    expect(text).toMatch(/\| norm\.rms +\| operations +\| +[\d,]+ \| +[\d,]+ \| the contract's size \|/);
    expect(text).toMatch(
      /\| \*\*Total\*\* +\| +\| +[\d,]+ \| +[\d,]+ \| \d{3},\d{3} tokens, about \d\.\d\d USD \|/,
    );
    expect(text).toContain('counted in. The limit of this run is 2,000,000 tokens.\n\n');
  });

  it('says so where the limit is likely to be reached, or nobody set one', () => {
    expect(show(settings({ limits: { hard_tokens: 1000 } }))).toContain(
      'is 1,000 tokens.\n- **More than the limit**: the run will probably stop before the engine is whole.',
    );
    expect(show()).toContain('No limit is set.');
  });

  it('says nothing of agents where knowledge fills everything', async () => {
    const known = await readExample('smollm2-135m.yaml', catalog);
    const text = renderPlan(prepareEngine(known, catalog, { agents, llm: settings() }).plan);
    expect(text).toContain('needs no model tokens');
    expect(text).not.toContain('agent');
  });
});
