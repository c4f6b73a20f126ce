import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { compileEmulated, expectDone, sanitized } from './compile-emulated.ts';

const folder = mkdtempSync(join(tmpdir(), 'metainfer-emulated-numbers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let program = '';
beforeAll(async () => {
  program = await compileEmulated(['numbers.cu'], sanitized, join(folder, 'numbers'));
});

test.each([
  ['f16 and bf16 convert to nearest even over all their values, infinities and NaN', 'conversions'],
  ['the product of a warp is the plain product, with the lanes of the PTX manual', 'product'],
  ['a NaN stays in the row and the column of its product', 'product-of-nan'],
  ['arithmetic, bit casts and vector loads are those of the device', 'arithmetic'],
])('%s', (_title, each) => expectDone(program, each));
