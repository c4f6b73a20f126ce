import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSabotageFile } from '../../../src/local/sabotage-campaign.ts';
import type { Catalog } from '../../../src/model/catalog.ts';
import type { SabotageEntry } from '../../../src/model/sabotage.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { makeTestCache } from '../../fixtures/test-cache.ts';
import { renderFaultTable } from '../../support/model-server/seeded-fault.ts';
import { runSeededFault } from './seeded-faults.ts';

const cacheFolder = makeTestCache(mkdtempSync(join(tmpdir(), 'metainfer-faults-')));
let catalog: Catalog;
let entries: readonly SabotageEntry[];

beforeAll(async () => {
  catalog = await openKnowledge(cacheFolder);
  entries = (await readSabotageFile()).mutations;
});
afterAll(() => rmSync(cacheFolder, { recursive: true, force: true }));

/** Where each is seen: by the contract's own gates, or by the whole engine's only. */
const sample = [
  ['norm-eps-outside-root', 'alone'],
  ['rope-interleaved', 'alone'],
  ['final-norm-skipped', 'in the engine'],
] as const;

describe('a model that makes a mistake first', () => {
  it.each(sample)('is told enough of %s to mend it (seen %s)', async (id, seen) => {
    const entry = entries.find((candidate) => candidate.id === id)!;
    const { fault, state, isSeenAlone } = await runSeededFault(entry, catalog, cacheFolder);
    console.log(renderFaultTable([fault]));
    expect(isSeenAlone).toBe(seen === 'alone');
    expect(fault.prompts.map(({ answer }) => answer)).toEqual(['faulty', 'right']);
    expect(fault.prompts[1]!.shown.filter(({ lacks }) => lacks.length > 0)).toEqual([]);
    expect(state).toMatchObject(isSeenAlone ? { next: 'verify' } : { status: 'passed' });
  });
});
