import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileEmulated, expectDone, plain, runToFault, sanitized } from './compile-emulated.ts';

const folder = mkdtempSync(join(tmpdir(), 'metainfer-emulated-host-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const builds = [
  { name: 'without sanitizers', flags: plain, fault: /cuda emulation: fault at / },
  { name: 'with sanitizers', flags: sanitized, fault: /AddressSanitizer/ },
];

describe.each(builds)('$name', ({ name, flags, fault }) => {
  let program = '';
  beforeAll(async () => {
    program = await compileEmulated(['host.cu'], flags, join(folder, name.replaceAll(' ', '-')));
  });

  test.each([
    ['allocations are aligned and filled with 0xFF; too large ones fail', 'poisoned-allocations'],
    ['copies and fills stay within one live allocation and go the way that they say', 'checked-copies'],
    ['launches have the limits of a device, and no argument points to host memory', 'launch-limits'],
    ['what the host did not wait for has not happened', 'late-work'],
    ['a graph replays launches and copies with the arguments and pointers of its capture', 'captured-work'],
    ['a graph that copies from freed memory fails', 'stale-copy'],
    ['calls that wait or allocate are refused in a capture and spoil it', 'refused-in-capture'],
    ['the device calls itself host emulation', 'names-its-device'],
  ])('%s', (_title, each) => expectDone(program, each));

  test.each([
    ['a kernel that writes far behind its memory', 'write-far-behind'],
    ['a graph that has the pointer of freed memory', 'stale-pointer'],
    ['a kernel that reads freed memory', 'read-freed'],
    ['host code that reads device memory', 'host-reads-device'],
    ['a kernel whose locals are too many for its stack', 'full-stack'],
  ])('%s faults', async (_title, each) => {
    expect(await runToFault(program, each)).toMatch(fault);
  });

  test('a load of a pair that is not aligned ends the program with a message', async () => {
    expect(await runToFault(program, 'misaligned-load')).toContain('__ldg of an address that');
  });

  test('a vector that is not aligned faults', async () => {
    const output = await runToFault(program, 'misaligned-vector');
    expect(output).toMatch(/fault at a misaligned access|store to misaligned address/);
  });

  if (name === 'with sanitizers') {
    test.each([
      ['one element behind the end', 'write-behind'],
      ['one element before the beginning', 'write-before'],
    ])('a write of %s is found', async (_title, each) => {
      expect(await runToFault(program, each)).toContain('AddressSanitizer: use-after-poison');
    });
  }
});
