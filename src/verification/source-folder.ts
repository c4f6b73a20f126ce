import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../model/errors.ts';

/**
 * A folder of C++ texts in src/verification of this package, known by one of its files: they stay there when the
 * TypeScript is built to dist/.
 */
export function findSourceFolder(name: string, witness: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (folder !== dirname(folder)) {
    const candidate = join(folder, 'src', 'verification', name);
    if (existsSync(join(candidate, witness))) return candidate;
    folder = dirname(folder);
  }
  throw new AppError('INTERNAL', `src/verification/${name} is missing from this installation.`);
}
