import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const blockBytes = 512;

/** Space that the files below a folder take; the count ends at `most` files. Links are counted, never followed. */
export function measureFolder(folder: string, most: number): { bytes: number; files: number } {
  let [bytes, files] = [0, 0];
  const open = [folder];
  for (let next = open.pop(); next !== undefined && files < most; next = open.pop()) {
    for (const entry of list(next)) {
      files++;
      const path = join(next, entry);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat?.isDirectory() === true) open.push(path);
      else bytes += (stat?.blocks ?? 0) * blockBytes;
    }
  }
  return { bytes, files };
}

/** Empty where the folder is gone again, or was made unreadable. */
function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
