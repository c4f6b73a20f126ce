import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { isLacking } from '../../fixtures/needed-tool.ts';
import { compileEmulated } from './compile-emulated.ts';

const folder = mkdtempSync(join(tmpdir(), 'metainfer-emulated-sizes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the types of the emulation have the sizes that the test asks of them', async () => {
  await compileEmulated(['sizes.cu'], ['-fsyntax-only'], join(folder, 'sizes'));
});

it.skipIf(isLacking('nvcc'))(
  'and so have those of CUDA',
  async () => {
    const words = ['-std=c++20', '-c', 'sizes.cu', '-o', join(folder, 'sizes.o')];
    const { stdout, stderr } = await promisify(execFile)('nvcc', words, { cwd: import.meta.dirname });
    expect(stdout + stderr).toBe('');
  },
  120_000,
);
