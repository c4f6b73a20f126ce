import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { composeEngine } from '../../src/generation/compose-engine.ts';
import { loadCatalog } from '../../src/knowledge/load-catalog.ts';
import { selectRealizations } from '../../src/knowledge/select-realizations.ts';
import { toTarget } from '../../src/model/target.ts';
import { makePlan } from '../../src/plan/make-plan.ts';
import { read } from '../constraints/read-case.ts';

const knowledge = join(import.meta.dirname, '../../knowledge');
const examples = readdirSync(join(knowledge, 'examples')).filter((file) => !file.startsWith('tiny-'));

it.each(examples)('plans for %s the very files that the composer writes, in the same order', async (file) => {
  const { catalog } = await loadCatalog(knowledge);
  const text = readFileSync(join(knowledge, 'examples', file), 'utf8');
  const { constraints, facts, sha256 } = read(text);
  if (catalog === undefined || constraints === undefined || facts === undefined || sha256 === undefined)
    throw new Error('knowledge or example is broken');
  const tokenizer = { model: 'none', preTokenizer: 'none', normalizer: 'none' } as const;
  const selection = selectRealizations(catalog, toTarget(constraints, facts, tokenizer));
  const platform = catalog.platforms.find(({ id }) => id === constraints.hardware.platform)!;
  const device = { bytesPerSecond: null, flopsPerSecond: null, source: 'unknown' } as const;
  const plan = makePlan({
    constraints,
    constraintsSha256: sha256,
    facts,
    tokenizer,
    selection,
    catalogSha256: catalog.sha256,
    device,
  });
  const engine = composeEngine({
    constraints,
    constraintsText: text,
    facts,
    modelConfig: {},
    tokenizer,
    selection,
    platform,
  });
  expect(plan.missing).toEqual([]);
  expect(plan.files).toEqual(engine.files.map(({ path }) => path));
});
