import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { examineCuda } from '../../src/cli/examine-cuda.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-examine-cuda-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A toolkit's folder whose nvcc is a script that says its folder and its version, and does nothing else. */
function installToolkit(name: string, version: string, hasRuntime: boolean): string {
  const folder = join(root, name);
  mkdirSync(join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'lib64'), { recursive: true });
  const text = `#!/bin/sh\necho '#$ TOP=${folder}'\necho 'Cuda compilation tools, release ${version}, V${version}.88'\n`;
  writeFileSync(join(folder, 'bin/nvcc'), text, { mode: 0o755 });
  if (hasRuntime) writeFileSync(join(folder, 'lib64/libcudart_static.a'), '');
  return join(folder, 'bin/nvcc');
}

const h200 = {
  name: 'NVIDIA H200',
  driver: '580.82.07',
  computeCapability: '9.0',
  memory: '143771 MiB',
};

describe('what doctor says of CUDA', () => {
  it('names compiler, driver and every device, and the arch that a constraint file would ask for', async () => {
    const findings = await examineCuda([installToolkit('whole', '13.0', true)], async () => [h200, h200]);
    expect(findings.map(({ name, status }) => `${name} ${status}`)).toEqual([
      ...['nvcc ok', 'driver ok', 'gpu ok', 'gpu ok'],
    ]);
    expect(findings[0]!.found).toMatch(/^13\.0\.88 in /);
    expect(findings[2]!.found).toBe('NVIDIA H200, sm_90, 143771 MiB');
  });

  it('says what is absent and what for, and that other engines need none of it', async () => {
    const findings = await examineCuda([join(root, 'nowhere/nvcc')], async () => undefined);
    expect(findings.map(({ status }) => status)).toEqual(['optional-missing', 'optional-missing']);
    expect(findings[0]!.needed).toContain('12 or newer');
    expect(findings[1]!.needed).toContain('not run on a device');
  });

  it.each([
    ['too old', '11.8', true],
    ['without the library that engines are linked with', '13.0', false],
  ])('does not call a toolkit whole that is %s', async (name, version, hasRuntime) => {
    const compiler = installToolkit(name, version, hasRuntime);
    const [finding] = await examineCuda([compiler], async () => []);
    expect(finding!.status).toBe('optional-missing');
  });
});
