import { closeSync, fstatSync, lstatSync, openSync, readSync } from 'node:fs';

const headerBytes = 64;
const types = { object: [1], program: [2, 3] } as const;

/** What a compiler wrote, or a linker. */
export type ElfKind = keyof typeof types;

/**
 * Whether the file is an object or a program, and whole: its table of sections, which stands at the end, is there.
 * False where there is no file.
 */
export function isElf(path: string, kind: ElfKind): boolean {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(headerBytes);
    if (readSync(file, header, 0, headerBytes, 0) < headerBytes) return false;
    if (!header.subarray(0, 4).equals(magic)) return false;
    const isWide = header[4] === 2 && header[5] === 1;
    // Every machine that engines are compiled for has 64 bits and the lowest byte first.
    if (!isWide) return false;
    const isKind = types[kind].some((type) => type === header.readUInt16LE(16));
    const tableEnd = Number(header.readBigUInt64LE(40)) + header.readUInt16LE(58) * header.readUInt16LE(60);
    return isKind && tableEnd <= fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

const magic = Buffer.from('\x7fELF', 'latin1');
