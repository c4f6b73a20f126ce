import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deviceCheckEngines, packBundle } from '../../src/local/device-check/pack-bundle.ts';
import { type CheckRun, runDeviceCheck } from '../../src/local/device-check/run-check.ts';
import type { DeviceReport } from '../../src/model/device-report.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { sharedCache } from '../fixtures/test-cache.ts';

const objects = join(sharedCache, 'objects/device-check');

/** A bundle with one measured shape and the unit gates of one contract. */
export async function packSmallBundle(bundle: string): Promise<void> {
  mkdirSync(objects, { recursive: true });
  const { checked, shapes } = deviceCheckEngines();
  await packBundle(bundle, {
    catalog: await openKnowledge(sharedCache),
    engines: { checked, shapes: shapes.slice(0, 1) },
    ...{ seed: 3, oracleTokens: 4, unitContracts: ['runtime.threading'], onDetail: () => {} },
  });
}

/** With as few tokens as show anything: emulated threads are thousands of times slower than real ones. */
export function runFake(bundle: string, out: string, changed: Partial<CheckRun> = {}) {
  mkdirSync(out);
  return runDeviceCheck({
    ...{ bundle, out, isFake: true, budgetSeconds: 560, cacheFolder: objects, seed: 1, fakePositions: 3 },
    ...{ signal: new AbortController().signal, onLine: () => {}, ...changed },
  });
}

export function statusOf(report: DeviceReport, name: string): string[] {
  return report.steps.filter(({ step }) => step === name).map(({ status }) => status);
}

/** A copy of the bundle with one source changed; its manifest doesn't know. */
export function changeSource(
  bundle: string,
  copy: string,
  { file, from, to }: { readonly file: string; readonly from: string; readonly to: string },
): void {
  cpSync(bundle, copy, { recursive: true });
  const text = readFileSync(join(copy, file), 'utf8');
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
  writeFileSync(join(copy, file), text.replace(from, to));
}

/** Makes the manifest say that the changed file is as it should be. */
export function acceptChange(copy: string, file: string): void {
  const path = join(copy, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { files: { path: string; sha256: string }[] };
  const sha256 = createHash('sha256')
    .update(readFileSync(join(copy, file)))
    .digest('hex');
  const files = manifest.files.map((entry) => (entry.path === file ? { ...entry, sha256 } : entry));
  writeFileSync(path, JSON.stringify({ ...manifest, files }));
}
