import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCampaign } from '../../src/local/sabotage-campaign.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { makeTestCache } from '../fixtures/test-cache.ts';

const cacheFolder = makeTestCache(mkdtempSync(join(tmpdir(), 'metainfer-sabotage-')));
afterAll(() => rmSync(cacheFolder, { recursive: true, force: true }));

/** A few mistakes on each platform; all of them and the mechanical ones are the full tier's. */
describe.each([
  ['norm-eps-outside-root', 'cpu-x86_64'],
  ['stale-kv-row', 'cpu-x86_64'],
  ['untied-head-from-embedding', 'cpu-x86_64'],
  ['cuda-launch-unchecked', 'cuda'],
] as const)('the mistake %s on %s', (id, platform) => {
  it('turns a gate red, and the report leads to its contract', async () => {
    const { handMade } = await runCampaign({
      ...{ cacheFolder, sandbox: 'auto', signal: new AbortController().signal },
      ...{ onDetail: () => {}, onNote: () => {} },
      ...{ catalog: await openKnowledge(cacheFolder), seed: 3, mechanical: 0, only: id, jobs: 1, platform },
    });
    expect(handMade).toHaveLength(1);
    expect(handMade[0]).toMatchObject({ id, isLocated: true });
    expect(handMade[0]?.detectedBy).not.toBeNull();
  });
});
