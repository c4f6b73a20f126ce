import { existsSync, rmSync } from 'node:fs';
import { AppError } from '../model/errors.ts';
import { explain } from './compiler-end.ts';
import type { Diagnostic } from './diagnostics.ts';
import { type ElfKind, isElf } from './elf-file.ts';
import { defaultLimits, type Limits } from './sandbox.ts';
import { type ProcessEnd, runSandboxed } from './sandboxed-process.ts';
import { makeScratch } from './scratch-folder.ts';
import type { Toolchain } from './toolchain.ts';

const compileLimits: Partial<Limits> = {
  wallSeconds: 300,
  cpuSeconds: 300,
  memoryBytes: 3 * 2 ** 30,
  processes: 16,
  fileBytes: 256 * 2 ** 20,
  outputBytes: 2 * 2 ** 20,
  pollMs: 250,
};

/** What a compiler needs besides the sources and /usr. */
export interface ToolAccess {
  readonly readOnlyPaths: readonly string[];
  /** Searched before /usr/bin. */
  readonly programFolders: readonly string[];
}

export function runTool(
  toolchain: Toolchain,
  folder: string,
  scratch: string,
  command: readonly string[],
  access: ToolAccess = { readOnlyPaths: [], programFolders: [] },
): Promise<ProcessEnd> {
  return runSandboxed({
    sandbox: toolchain.sandbox,
    command,
    readOnlyPaths: [folder, toolchain.cacheFolder, ...access.readOnlyPaths],
    scratch,
    // Compilers find their assembler and linker by PATH; TMPDIR keeps their files in the scratch folder.
    environment: { PATH: [...access.programFolders, '/usr/bin'].join(':'), LC_ALL: 'C', TMPDIR: scratch },
    limits: { ...compileLimits, ...toolchain.limits },
    ...(toolchain.signal === undefined ? {} : { signal: toolchain.signal }),
  });
}

/** The ends of compiler and linker, in a folder and with these limits, as what they say about the code. */
export function explainRun(
  toolchain: Toolchain,
  folder: string,
  scratch: string,
  { end, what }: { readonly end: ProcessEnd; readonly what: string },
): Diagnostic[] {
  const { memoryBytes } = { ...defaultLimits, ...compileLimits, ...toolchain.limits };
  return explain(end, { what, memoryBytes, folders: [folder, scratch, toolchain.cacheFolder] });
}

/**
 * After a tool that ended well: text under test can make it fail, but not make it write something else.
 * @throws AppError TOOL_MISSING, naming the tool
 */
export function requireElf(path: string, kind: ElfKind, tool: string, what: string): void {
  if (isElf(path, kind)) return;
  const wrote = existsSync(path) ? `what it wrote is no ${kind} file` : `it wrote no ${kind} file`;
  throw new AppError(
    'TOOL_MISSING',
    `${tool} ended without an error for ${what}, but ${wrote}: this compiler does not work. Install it again.`,
  );
}

export async function inScratch<Result>(
  toolchain: Toolchain,
  work: (scratch: string) => Promise<Result>,
): Promise<Result> {
  const scratch = makeScratch(toolchain.cacheFolder, 'scratch');
  try {
    return await work(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
