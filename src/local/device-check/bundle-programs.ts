import { createHash } from 'node:crypto';
import { join, relative } from 'node:path';
import { pruneConfig, readTransitive } from '../../verification/object-key.ts';
import type { BundleObject, BundleProgram } from './bundle-manifest.ts';

/** Programs of a bundle and the compilations that they need, each once. */
export class ProgramList {
  readonly objects = new Map<string, BundleObject>();
  readonly programs: BundleProgram[] = [];
  private readonly bundle: string;

  constructor(bundle: string) {
    this.bundle = bundle;
  }

  /** `folder` is inside the bundle; `sources` are names in it. */
  add(id: string, folder: string, sources: readonly string[]): string {
    const keys = sources.map((source) => {
      const key = objectKey(folder, source);
      if (!this.objects.has(key))
        this.objects.set(key, { key, folder: relative(this.bundle, folder), source });
      return key;
    });
    this.programs.push({ id, objects: keys });
    return id;
  }

  folderOf(id: string): string {
    return join(this.bundle, id);
  }
}

function objectKey(folder: string, source: string): string {
  const hash = createHash('sha256').update(`${source}\n`);
  for (const [file, text] of pruneConfig(readTransitive(folder, source)))
    hash.update(`${file} ${Buffer.byteLength(text)}\n`).update(text);
  return hash.digest('hex');
}
