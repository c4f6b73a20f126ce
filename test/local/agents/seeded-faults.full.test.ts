import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readSabotageFile } from '../../../src/local/sabotage-campaign.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { mapParallel } from '../../../src/verification/parallel.ts';
import { makeTestCache } from '../../fixtures/test-cache.ts';
import { renderFaultTable } from '../../support/model-server/seeded-fault.ts';
import { runSeededFault } from './seeded-faults.ts';

const cacheFolder = makeTestCache(mkdtempSync(join(tmpdir(), 'metainfer-faults-')));
afterAll(() => rmSync(cacheFolder, { recursive: true, force: true }));

describe('every mistake of knowledge/sabotage.yaml as a first answer', () => {
  it('is mended within the limits, and each finding that was shown is sufficient', async () => {
    const catalog = await openKnowledge(cacheFolder);
    const { mutations } = await readSabotageFile();
    const runs = await mapParallel(mutations, 2, (entry) => runSeededFault(entry, catalog, cacheFolder));
    console.log(renderFaultTable(runs.map(({ fault }) => fault)));
    const unmended = runs.filter(({ fault, state, isSeenAlone }) => {
      const isRight = fault.prompts.at(-1)?.answer === 'right';
      return !isRight || (isSeenAlone ? state.next !== 'verify' : state.status !== 'passed');
    });
    expect(unmended.map(({ fault }) => fault.entry.id)).toEqual([]);
    const insufficient = runs.flatMap(({ fault }) =>
      fault.prompts.flatMap(({ shown }) =>
        shown
          .filter(({ lacks }) => lacks.length > 0)
          .map(({ lacks }) => `${fault.entry.id}: ${lacks.join(', ')}`),
      ),
    );
    expect(insufficient).toEqual([]);
  }, 3_600_000);
});
