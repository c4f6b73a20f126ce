import { lstat, readFile } from 'node:fs/promises';

/** Far above anything that an engine holds. */
const maxBytes = 2 ** 20;

/**
 * The text of a file that somebody else may have put there; undefined where it is missing, a link or a special file,
 * larger than 1 MiB, or no UTF-8 (what is not decoded without loss cannot be compared with a text).
 */
export async function readPlainFile(path: string): Promise<string | undefined> {
  try {
    const entry = await lstat(path);
    if (!entry.isFile() || entry.size > maxBytes) return undefined;
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(path));
  } catch {
    return undefined;
  }
}
