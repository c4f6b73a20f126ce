import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../model/errors.ts';

/** src/verification/shim of this package: the C++ texts stay there when the TypeScript is built to dist/. */
export function findShimFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (folder !== dirname(folder)) {
    const candidate = join(folder, 'src', 'verification', 'shim');
    if (existsSync(join(candidate, 'shim.h'))) return candidate;
    folder = dirname(folder);
  }
  throw new AppError('INTERNAL', 'src/verification/shim is missing from this installation.');
}
