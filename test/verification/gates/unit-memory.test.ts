import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { planJobs } from '../../../src/verification/gates/unit-jobs.ts';
import { checkMemory, findMemoryChecker } from '../../../src/verification/gates/unit-memory.ts';
import { probeSandbox } from '../../../src/verification/sandbox.ts';
import type { CudaToolchain } from '../../../src/verification/toolchain.ts';
import { fakeContext, fakeEngine } from '../fake-session.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-unit-memory-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A toolkit whose memory checker is this script; it gets the same words as NVIDIA's. */
function toolkit(name: string, script: string): CudaToolchain {
  const folder = join(root, name);
  mkdirSync(join(folder, 'compute-sanitizer'), { recursive: true });
  const checker = join(folder, 'compute-sanitizer', 'compute-sanitizer');
  writeFileSync(checker, `#!/bin/sh\n${script}\n`);
  chmodSync(checker, 0o755);
  return { folder, mode: 'device', deviceFiles: [] } as unknown as CudaToolchain;
}

async function check(name: string, script: string) {
  const scratch = join(root, `scratch-${name}`);
  mkdirSync(scratch);
  const casesFile = join(scratch, 'cases');
  writeFileSync(casesFile, 'cases');
  const { toolchain } = fakeContext();
  const cuda = toolkit(name, script);
  return checkMemory(
    { toolchain: { ...toolchain, sandbox: probeSandbox('auto'), cuda } },
    { contract: { id: 'norm.rms' }, model: { name: 'small', folder: scratch } } as never,
    { binary: '/usr/bin/true', casesFile, scratch, limits: {} },
  );
}

test('a program that neither tool complains about is sound, and each tool saw it with its cases', async () => {
  const calls = 'echo "$*" >> calls; [ -f "$8" ] && [ "$7" = /usr/bin/true ] || exit 3';
  expect(await check('sound', calls)).toEqual({ findings: [] });
});

test('what a tool found is a finding of the contract, in the words of the tool', async () => {
  const fault =
    '[ "$2" = memcheck ] || exit 0; echo "========= COMPUTE-SANITIZER"; echo noise; echo "========= Invalid __global__ read of size 4 bytes"; echo "=========     at norm_kernel in norm_rms.cu:12"; exit 99';
  const { findings } = await check('fault', fault);
  expect(findings).toMatchObject([{ gate: 'unit', contract: 'norm.rms', evidence: { tool: 'memcheck' } }]);
  expect(findings[0]!.message).toBe(
    'norm.rms (small): compute-sanitizer memcheck: COMPUTE-SANITIZER; Invalid __global__ read of size 4 bytes; at norm_kernel in norm_rms.cu:12',
  );
});

test('a tool that does not work is no finding, and is told', async () => {
  const outcome = await check('broken', 'echo "========= Error: Target application terminated"; exit 1');
  expect(outcome.findings).toEqual([]);
  expect(outcome.obstacle).toBe(
    'compute-sanitizer memcheck did not work: exit code 1 Error: Target application terminated',
  );
});

test('a toolkit without the tool has none', () => {
  expect(findMemoryChecker({ folder: root })).toBeUndefined();
});

test('on a device one program of each contract is checked, at small shapes; in emulation none is', () => {
  const gate = { contract: 'norm.rms', configs: [{}, { hidden_size: 30 }], cases: [] };
  const contract = {
    ...{ id: 'norm.rms', header: 'norm_rms.h', source: 'norm_rms.cu', requires: [], config: [] },
    ...{ gate: gate as never, shim: '', reference: '/nonexistent' },
  };
  const folder = join(root, 'engine');
  mkdirSync(folder);
  const plan = (mode: CudaToolchain['mode']) => {
    const base = fakeContext();
    return planJobs({
      ...base,
      engine: { ...fakeEngine, folder, onDevice: true, contracts: [contract] },
      scratchFolder: join(root, `plan-${mode}`),
      toolchain: { ...base.toolchain, cuda: { mode } as CudaToolchain },
      renderConfigHeader: () => '',
    }).map(({ model, target, isMemoryChecked }) => [model.name, target, isMemoryChecked]);
  };
  expect(plan('device')).toEqual([
    ['own', 'device', false],
    ['small', 'device', true],
    ['small hidden_size=30', 'device', false],
  ]);
  expect(plan('compile-only')).toEqual([
    ['small', 'emulation', false],
    ['small hidden_size=30', 'emulation', false],
  ]);
});
