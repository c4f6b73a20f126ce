import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineUnderTest } from '../../../src/local/judge-engine.ts';
import { compareEngines } from '../../../src/verification/compare-engines.ts';
import { profileEngine } from '../../../src/verification/profile-engine.ts';
import { isLacking } from '../../fixtures/needed-tool.ts';
import { type AgentSubject, buildSubject, openSubject, replacing, withText } from './agent-subject.ts';

const checkpointFolder = join(process.cwd(), 'test/fixtures/checkpoints/tiny-qwen3');
const root = mkdtempSync(join(tmpdir(), 'metainfer-measured-'));
let subject: AgentSubject;
let usual: { folder: string; binary: string };
let slow: { folder: string; binary: string };

beforeAll(async () => {
  if (isLacking('bubblewrap')) return;
  subject = await openSubject(root);
  usual = await buildSubject(subject, subject.files, join(root, 'usual'));
  // Right, and so slow that it shows in whatever the engine does.
  const waste = 'for (volatile int wasted = 0; wasted < 20000;) wasted = wasted + 1;';
  const line = 'const float scale = 1.0f / std::sqrt(mean + config::rms_norm_eps);';
  const files = withText(subject.files, 'norm.rms', replacing(line, `${waste}\n  ${line}`));
  slow = await buildSubject(subject, files, join(root, 'slow'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.skipIf(isLacking('bubblewrap'))('the profile of an engine', () => {
  it('says which contract the time of decoding and of prefill goes to', async () => {
    const engine = engineUnderTest(subject.prepared, slow.folder);
    const { toolchain } = subject;
    const profile = await profileEngine({ engine, toolchain, checkpointFolder, runSeed: 1, seconds: 2 });
    for (const { parts, tokensPerSecond, cpuSeconds } of [profile.decode, profile.prefill]) {
      expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6);
      expect(tokensPerSecond).toBeGreaterThan(0);
      expect(cpuSeconds).toBeGreaterThan(0.2);
      const norm = parts.find(({ contract }) => contract === 'norm.rms');
      const linear = parts.find(({ contract }) => contract === 'linear.dense');
      expect(norm!.share).toBeGreaterThan(linear?.share ?? 0);
      // Threads that wait for one another spin: that is the rest.
      expect(norm!.share).toBeGreaterThan(0.05);
    }
  });
});

describe.skipIf(isLacking('bubblewrap'))('two engines side by side', () => {
  const compare = (before: string, after: string) =>
    compareEngines({
      ...{ binaries: { before, after }, checkpointFolder, sandbox: subject.toolchain.sandbox },
      facts: subject.prepared.request.model.facts,
      constraints: subject.prepared.request.constraints,
      ...{ budgetSeconds: 10, signal: new AbortController().signal },
    });

  it('show which is faster, beyond the spread of the measurement', async () => {
    const comparison = (await compare(slow.binary, usual.binary))!;
    expect(comparison.integrity).toEqual([]);
    expect(comparison.rounds).toBeGreaterThanOrEqual(3);
    for (const { ratio, spread } of [comparison.decode, comparison.prefill]) {
      expect(ratio - spread!).toBeGreaterThan(1);
    }
  });

  it('show no difference between an engine and itself', async () => {
    const { decode } = (await compare(usual.binary, usual.binary))!;
    // A 95 % interval misses one time in twenty, and what else runs on the machine comes in bursts.
    expect(Math.abs(decode.ratio - 1)).toBeLessThan(Math.max(5 * decode.spread!, 0.1));
  });
});
