import { join } from 'node:path';
import { loadPlatforms } from '../../src/knowledge/platform-file.ts';
import { readTree } from '../../src/knowledge/read-tree.ts';

/** The platforms of knowledge/platforms, read without the rest of the catalog. */
export const knownPlatforms = loadPlatforms(
  await readTree(join(import.meta.dirname, '../../knowledge')),
).platforms;
