import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileEmulated, expectDone, plain, runToFault, sanitized } from './compile-emulated.ts';

const folder = mkdtempSync(join(tmpdir(), 'metainfer-emulated-threads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const builds = [
  { name: 'without sanitizers', flags: plain },
  { name: 'with sanitizers', flags: sanitized },
  { name: 'with the portable switch of stacks', flags: [...plain, '-DCUDA_EMULATION_UCONTEXT'] },
];

describe.each(builds)('$name', ({ name, flags }) => {
  let program = '';
  beforeAll(async () => {
    const sources = ['threads.cu', 'shared-tiles-first.cu', 'shared-tiles-second.cu'];
    program = await compileEmulated(sources, flags, join(folder, name.replaceAll(' ', '-')));
  });

  test.each([
    [
      'a missing barrier between a write and the read of another thread gives wrong results',
      'missing-write-read',
    ],
    ['a missing barrier between a read and the next write gives wrong results', 'missing-read-overwrite'],
    ['a missing barrier within a warp gives wrong results', 'missing-warp-barrier'],
    ['blocks that read what other blocks write give results that change', 'dependent-blocks'],
    ['shuffles move values between lanes as CUDA does', 'shuffles'],
    ['every thread of every block runs once and knows its indices', 'indices'],
    ['a barrier does not wait for threads that have ended', 'ended-threads'],
    ['shared memory that a block has not written is NaN, also after another block', 'poisoned-shared'],
    ['shared memory works in templates, device functions and several units', 'templates-and-units'],
  ])('%s', (_title, each) => expectDone(program, each));

  test.each([
    [
      'threads of a block at barriers in different lines',
      'divergent-lines',
      /divergent: thread \(32, 0, 0\) comes to __syncthreads/,
    ],
    [
      'a lane at a barrier while its warp shuffles',
      'barrier-in-warp',
      /deadlock of a warp in block \(0, 0, 0\)[\s\S]*thread \(3, 0, 0\) waits at __syncthreads/,
    ],
    ['a shuffle without a lane that has ended', 'ended-lane', /thread \(40, 0, 0\) has ended/],
    ['a barrier that some warps pass once more', 'uneven-rounds', /divergent: .*__syncthreads/],
    ['a shuffle of half a warp', 'part-of-warp', /mask isn't all 32 lanes/],
    ['a shuffle in a block that is smaller than a warp', 'small-block', /without all 32 lanes/],
  ])('%s ends the program with a message', async (_title, each, message) => {
    expect(await runToFault(program, each)).toMatch(message);
  });
});
