import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadPlatforms } from '../../src/knowledge/platform-file.ts';
import { readTree } from '../../src/knowledge/read-tree.ts';
import { gpuPlatform, loadFiles, validTree } from './knowledge-tree.ts';

it('reads a GPU platform in bytes and operations per second', async () => {
  const { catalog, problems } = await loadFiles({ ...validTree(), 'platforms/cuda.yaml': gpuPlatform });
  expect(problems).toEqual([]);
  const cuda = catalog?.platforms.find(({ id }) => id === 'cuda');
  expect(cuda?.archs).toEqual({ sm_80: { flags: [], vectorWidth: 1, cpuFlags: [] } });
  expect(cuda?.gpu?.compiler).toEqual({ command: 'nvcc', minimumMajor: 12 });
  expect(cuda?.gpu?.limits).toEqual({ registersPerThread: 255, spillBytes: 0, sharedBytesPerBlock: 49_152 });
  expect(cuda?.gpu?.devices[0]).toEqual({
    id: 'one',
    name: 'Device One',
    arch: 'sm_80',
    memoryBytes: 24e9,
    bytesPerSecond: 300e9,
    bf16FlopsPerSecond: 121e12,
    l2Bytes: 48 * 2 ** 20,
    sharedBytesPerBlock: 99 * 1024,
    multiprocessors: 58,
  });
});

it('knows five devices of two archs, none of them with a rate that only sparse matrices reach', async () => {
  const { platforms, problems } = loadPlatforms(await readTree(join(import.meta.dirname, '../../knowledge')));
  expect(problems).toEqual([]);
  const platform = platforms.find(({ id }) => id === 'cuda')!;
  expect(platform.gpu!.devices.map(({ id, arch }) => `${id} ${arch}`)).toEqual([
    'a100 sm_80',
    'h100 sm_90',
    'h200 sm_90',
    'l4 sm_80',
    'rtx4090 sm_80',
  ]);
  expect(platform.flags).toEqual(platforms.find(({ id }) => id === 'cpu-x86_64')!.flags);
  // Dense: a Hopper multiprocessor does 4,096 bf16 operations a cycle, an Ampere one 2,048, an Ada one 1,024, of a GeForce half of it.
  const perCycle = { a100: 2048, h100: 4096, h200: 4096, l4: 1024, rtx4090: 512 };
  for (const { id, bf16FlopsPerSecond, multiprocessors } of platform.gpu!.devices) {
    const clock = bf16FlopsPerSecond / multiprocessors / perCycle[id as keyof typeof perCycle];
    expect(clock / 1e9, id).toBeGreaterThan(1.3);
    expect(clock / 1e9, id).toBeLessThan(2.7);
  }
});
