import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Campaign, runCampaign } from '../../src/local/sabotage-campaign.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';

const cacheFolder = mkdtempSync(join(tmpdir(), 'metainfer-sabotage-'));
afterAll(() => rmSync(cacheFolder, { recursive: true, force: true }));

describe('the gates, with every hand-made mistake and 100 mechanical ones', () => {
  let campaign: Campaign;
  beforeAll(async () => {
    campaign = await runCampaign({
      ...{ cacheFolder, sandbox: 'auto', signal: new AbortController().signal },
      ...{ onDetail: () => {}, onNote: (text: string) => console.log(text) },
      ...{ catalog: await openKnowledge(cacheFolder), seed: 1, mechanical: 100, jobs: 2 },
    });
  }, 3_000_000);

  it('see every hand-made mistake', () => {
    expect(campaign.handMade.filter((outcome) => outcome.detectedBy === null).map(({ id }) => id)).toEqual(
      [],
    );
  });

  it('lead from every hand-made mistake to its contract', () => {
    const wrong = campaign.handMade.filter((outcome) => !outcome.isLocated);
    expect(wrong.map(({ id, blamed }) => `${id} blames ${blamed}`)).toEqual([]);
  });

  it('see at least 95 % of the mechanical ones that mean something else', () => {
    const judged = campaign.mechanical.filter((outcome) => outcome.equivalentBecause === null);
    const detected = judged.filter((outcome) => outcome.detectedBy !== null);
    expect(campaign.mechanical.length).toBe(100);
    expect(detected.length / judged.length).toBeGreaterThanOrEqual(0.95);
  });
});

describe('the gates, with every hand-made mistake in CUDA code', () => {
  it('see each of them in host emulation or by a static rule, and lead to its contract', async () => {
    const { handMade } = await runCampaign({
      ...{ cacheFolder, sandbox: 'auto', signal: new AbortController().signal },
      ...{ onDetail: () => {}, onNote: (text: string) => console.log(text) },
      ...{ catalog: await openKnowledge(cacheFolder), seed: 1, mechanical: 0, jobs: 2, platform: 'cuda' },
    });
    expect(handMade.length).toBeGreaterThanOrEqual(15);
    const wrong = handMade.filter((outcome) => outcome.detectedBy === null || !outcome.isLocated);
    expect(wrong.map(({ id, detectedBy, blamed }) => `${id}: ${detectedBy}, blames ${blamed}`)).toEqual([]);
  }, 3_000_000);
});
