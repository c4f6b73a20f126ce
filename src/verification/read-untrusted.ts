import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/**
 * What code under test left in a file, at most `most` bytes; empty where anything but a plain file of that size stands
 * there: a link, a pipe, nothing.
 */
export function readUntrusted(file: string, most: number): Buffer {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let descriptor: number;
  try {
    descriptor = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const stat = fstatSync(descriptor);
    return stat.isFile() && stat.size <= most ? readFileSync(descriptor) : Buffer.alloc(0);
  } finally {
    closeSync(descriptor);
  }
}
