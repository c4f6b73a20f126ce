import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeShape, realTests } from '../../../src/local/device-check/bundle-shapes.ts';
import { physicsMargin } from '../../../src/local/device-check/check-speeds.ts';
import { judgeRequirements } from '../../../src/local/device-check/judge-requirements.ts';
import { knownShapes } from '../../../src/local/device-check/known-shapes.ts';
import { deviceCheckEngines } from '../../../src/local/device-check/pack-bundle.ts';
import { deviceGates, deviceRequirements, deviceSteps } from '../../../src/model/device-report.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { packageRoot } from '../../../src/preparation/package-root.ts';
import { prepareEngine } from '../../../src/preparation/prepare-engine.ts';
import { readConstraintFile, readRequest } from '../../../src/preparation/read-request.ts';
import { sharedCache } from '../../fixtures/test-cache.ts';
import { deviceReport, speedLine, stepWith } from './good-report.ts';

const folder = join(packageRoot(), 'src/local/device-check/device');

/** What an expression over the driver's modules gives; `value` is at hand in it. */
function askDriver(expression: string, value: unknown = null): unknown {
  const program = [
    'import json, sys',
    `sys.path.insert(0, ${JSON.stringify(folder)})`,
    'import gates, speeds, steps, summary',
    'value = json.load(sys.stdin)',
    `print(json.dumps(${expression}))`,
  ].join('\n');
  const options = { input: JSON.stringify(value), encoding: 'utf8' as const };
  const { stdout, stderr, status } = spawnSync('python3', ['-B', '-c', program], options);
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

const summed = '[summary.gates_green(value), *summary.decode_shares(value), summary.no_slower(value)]';

describe('what the driver and the reader of its report both say', () => {
  it('is the same of steps, gates and margins', () => {
    const tables = '[[step.name for step in steps.STEPS], list(gates.GATES), speeds.PHYSICS_MARGIN]';
    expect(askDriver(tables)).toEqual([[...deviceSteps], [...deviceGates], physicsMargin]);
  });

  it('is the same of requirements, also where they are missed', () => {
    const { largeShape, gates, share, shareGoal, torch } = deviceRequirements;
    const titles = [gates.title, share.title, shareGoal.title, torch.title];
    expect(askDriver('[summary.LARGE_SHAPE, summary.REQUIRED_SHARE, summary.GOAL_SHARE]')).toEqual([
      ...[largeShape, share.wanted, shareGoal.wanted],
    ]);
    const written = askDriver(summed, deviceReport()) as { requirement: string; wanted: number | null }[];
    expect(written.map(({ requirement }) => requirement)).toEqual(titles);
    expect(written).toEqual(deviceReport().requirements);
    const report = stepWith('units', { status: 'skipped', reason: 'not asked for', checks: [] })(
      deviceReport(),
    );
    const torchLines = [
      speedLine('qwen3-8b', 'decode', 0, { runner: 'engine, beside torch', share: 0.6 }),
      speedLine('qwen3-8b', 'decode', 0, { runner: 'torch, eager', share: 0.5 }),
      speedLine('qwen3-8b', 'decode', 0, { runner: 'torch, graph', share: 0.75 }),
    ];
    const other = { ...report, speeds: [...report.speeds, ...torchLines] };
    expect(judgeRequirements(other)).toMatchObject(
      (askDriver(summed, other) as object[]).map(({ note: _, ...rest }: { note?: unknown }) => rest),
    );
  });

  it('is the same of bytes and operations of the measured shapes as the packer works out', async () => {
    const catalog = await openKnowledge(sharedCache);
    const { shapes } = deviceCheckEngines();
    expect(shapes.map(({ id }) => id)).toEqual(Object.keys(knownShapes));
    for (const { id, file } of shapes) {
      const request = await readRequest(await readConstraintFile(file), {
        ...{ fileName: file, origin: 'command-line', weightsRoot: undefined },
        catalog,
      });
      const { work } = describeShape(id, 'program', prepareEngine(request, catalog), realTests);
      expect(work).toEqual(knownShapes[id]);
    }
  });
});
