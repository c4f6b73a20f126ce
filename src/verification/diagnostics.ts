/** One message of the compiler or linker, with its place where it has one. */
export interface Diagnostic {
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
}

// nvcc writes `file.cu(7): error #177-D: message`.
const place =
  /^(?<file>[^\s:(][^:(]*)(?::(?<line>\d+):(?:\d+:)?|\((?<cudaLine>\d+)\):) (?:fatal )?(?:error|warning)(?: #\d+(?:-D)?)?: (?<message>.*)$/;
const linkedSymbol =
  /(?:^|\/|\s)(?<file>[^/\s:]+):\(\.[^)]*\): (?<message>(?:undefined reference to|multiple definition of) .*)$/;
const linker = /(?<message>(?:undefined reference to|multiple definition of).*)$/;
/** The device's assembler names a place in its own input only. */
const assembler =
  /^ptxas (?:\S+, line \d+; )?(?:error|fatal)\s*: (?<message>(?!Ptx assembly aborted|Internal error|Memory allocation).*)$/;
/** What nvcc calls the host's part of `name.cu`. */
const hostPart = /^tmpxft_\w+-\d+_(?<name>[\w.-]+)\.cudafe1\.cpp$/;

/** The errors in what a compiler or linker wrote, each once, at most `limit`. */
export function readDiagnostics(stderr: string, limit = 20): Diagnostic[] {
  const found = new Map<string, Diagnostic>();
  for (const line of stderr.split('\n')) {
    const match = place.exec(line) ?? linkedSymbol.exec(line) ?? linker.exec(line) ?? assembler.exec(line);
    const groups = match?.groups;
    if (groups === undefined) continue;
    const number = groups.line ?? groups.cudaLine;
    const diagnostic = {
      file: groups.file === undefined ? null : sourceOf(groups.file),
      line: number === undefined ? null : Number(number),
      // Where the object lies says nothing; which source it comes from does.
      message: (groups.message as string)
        .replace(
          /; \S*?([\w.-]+\.cpp):\(\S+\): first defined here/,
          (_, file: string) => `; first defined in ${sourceOf(file)}`,
        )
        .slice(0, 500),
    };
    found.set(`${diagnostic.file}:${diagnostic.line}:${diagnostic.message}`, diagnostic);
    if (found.size === limit) break;
  }
  return [...found.values()];
}

function sourceOf(file: string): string {
  const name = hostPart.exec(file)?.groups?.name;
  return name === undefined ? file : `${name}.cu`;
}
