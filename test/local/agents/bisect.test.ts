import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bisection, bisectByRealizations } from '../../../src/local/agents/bisect.ts';
import type { GateName, GateResult } from '../../../src/model/report.ts';
import { isLacking } from '../../fixtures/needed-tool.ts';
import { type AgentSubject, openSubject, replacing, sharedCache, withText } from './agent-subject.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-bisect-'));
let subject: AgentSubject;
beforeAll(async () => {
  subject = await openSubject(root, {}, 'source-reference');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function red(gate: GateName): GateResult {
  const nothing = { reason: null, seconds: 1, findings: [], measurements: {} };
  return { gate, status: 'failed', ...nothing };
}

/** Queries are scaled by another root: every state after the first attention is wrong. */
function bisect(suspects: readonly string[], change: Partial<Bisection> = {}) {
  const right = 'std::sqrt(static_cast<float>(head_dim))';
  const wrong = 'std::sqrt(static_cast<float>(head_dim) * 0.6333333f)';
  const { prepared, catalog, files } = subject;
  return bisectByRealizations({
    ...{ prepared, catalog, cacheFolder: sharedCache, suspects, gates: [red('trace')], runSeed: 3 },
    agentFiles: withText(files, 'attention.core', replacing(right, wrong)),
    ...{ sandbox: 'auto', signal: new AbortController().signal, onDetail: () => {} },
    ...change,
  });
}

describe.skipIf(isLacking('bubblewrap'))('swapping in realizations', () => {
  it('names the suspect with whose realization the red gate turns green', async () => {
    expect(await bisect(['linear.dense', 'attention.core', 'kv.cache'])).toBe('attention.core');
  });

  it('names nobody in zero-reference mode, nor where no gate of the whole engine is red', async () => {
    const { request } = subject.prepared;
    const generation = { ...request.constraints.generation, mode: 'zero-reference' as const };
    const constraints = { ...request.constraints, generation };
    const prepared = { ...subject.prepared, request: { ...request, constraints } };
    expect(await bisect(['attention.core'], { prepared })).toBeUndefined();
    expect(await bisect(['attention.core'], { gates: [red('unit')] })).toBeUndefined();
  });
});
