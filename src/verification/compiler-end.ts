import { AppError } from '../model/errors.ts';
import { type Diagnostic, readDiagnostics } from './diagnostics.ts';
import { withoutHostPaths } from './host-paths.ts';
import type { ProcessEnd } from './sandboxed-process.ts';

/** What was compiled or linked, and within which bounds. */
interface CompilerRun {
  /** The source, or `link`. */
  readonly what: string;
  /** Places of this machine, which no finding names. */
  readonly folders: readonly string[];
  /** What it was allowed to use. */
  readonly memoryBytes: number;
}

/**
 * What the compiler or the linker had against the code. A failure that is none of the code's doing is no finding: nobody
 * could repair it.
 * @throws AppError TOOL_MISSING, OUT_OF_MEMORY, or ENGINE_INVALID where a file went away while it was needed
 */
export function explain(end: ProcessEnd, run: CompilerRun): Diagnostic[] {
  const { what, folders } = run;
  if (end.reason === 'aborted') throw new AppError('INTERNAL', 'The build was stopped.');
  const text = withoutHostPaths(end.stderr.toString('utf8'), folders);
  if (end.reason === 'not-started') throw new AppError('TOOL_MISSING', `${what}: ${text}`);
  if (wrongHostCompiler.test(text)) throw incompleteCompiler(text);
  const diagnostics = readDiagnostics(text);
  // With a place in the code it is the code's: text that imitates one of the messages below comes with its place.
  if (diagnostics.length > 0)
    return diagnostics.map((item) =>
      what.endsWith('.cu') && item.file === null ? { ...item, file: what } : item,
    );
  const fault = end.reason === 'exit' ? environmentFault(text, end, run) : undefined;
  if (fault !== undefined) throw fault;
  const how =
    end.reason === 'exit' ? `exit code ${end.exitCode ?? end.signal}` : `ended by the limit: ${end.reason}`;
  const tail = text.trim().slice(-500);
  return [{ file: what, line: null, message: `the compiler failed (${how}) ${tail}`.trim() }];
}

/** Of a header of the CUDA toolkit, which therefore has a place. */
const wrongHostCompiler = /^(?:\S*\/)?host_config\.h:\d+:\d+: error: #error -- unsupported/m;
const missingTool =
  /^\S*ld(?:\.\w+)?: cannot find -l|^\S*(?:g\+\+|collect2): fatal error: cannot (?:execute|find)\b|error while loading shared libraries|^nvcc fatal\s*: (?:Unsupported gpu architecture|Failed to preprocess host compiler|Cannot find)|^sh: .*: (?:command )?not found/m;
/** Without a place: not what the code includes, but what the compiler was called with. */
const missingFile =
  /^\S*cc1plus: fatal error: |^\S*g\+\+: (?:fatal )?error: .*No such file|^\S*ld(?:\.\w+)?: cannot (?:find|open) |^(?:\S+ )?Fatal error: can't (?:create|open) /m;
const fullDisk = /No space left on device|Disk quota exceeded/;
const noMemory =
  /Killed signal terminated program|terminated with signal 9\b|died due to signal 9\b|memory exhausted|Cannot allocate memory|out of memory allocating (?<bytes>\d+) bytes/;

function environmentFault(text: string, end: ProcessEnd, { what, memoryBytes }: CompilerRun) {
  const told = firstLine(text);
  if (missingTool.test(text)) return incompleteCompiler(text);
  if (fullDisk.test(text))
    return new AppError('OUT_OF_MEMORY', `The disk of this machine is full: ${what} cannot be compiled.`);
  if (missingFile.test(text)) {
    return new AppError(
      'ENGINE_INVALID',
      `A file went away while ${what} was compiled, so nothing is known about the code. Run again. (${told})`,
    );
  }
  const wanted = noMemory.exec(text);
  // Code that makes the compiler use more than its share would not compile elsewhere either.
  const isModest = end.peakRssBytes < memoryBytes / 2 && Number(wanted?.groups?.bytes ?? 0) < memoryBytes / 2;
  if (wanted === null || !isModest) return undefined;
  return new AppError(
    'OUT_OF_MEMORY',
    `The compiler was ended or got no memory while ${what} was compiled, though it used ${Math.round(end.peakRssBytes / 2 ** 20)} MiB of the ${Math.round(memoryBytes / 2 ** 20)} MiB that it may use: this machine has too little left.`,
  );
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]?.slice(0, 300) ?? '';
}

function incompleteCompiler(text: string): AppError {
  return new AppError('TOOL_MISSING', `The compiler of this machine is not complete: ${firstLine(text)}`);
}
