/** One message of the compiler or linker, with its place where it has one. */
export interface Diagnostic {
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
}

const place = /^(?<file>[^\s:][^:]*):(?<line>\d+):(?:\d+:)? (?:fatal )?(?:error|warning): (?<message>.*)$/;
const linkedSymbol =
  /(?:^|\/|\s)(?<file>[^/\s:]+):\(\.[^)]*\): (?<message>(?:undefined reference to|multiple definition of) .*)$/;
const linker = /(?<message>(?:undefined reference to|multiple definition of).*)$/;

/** The errors in what g++ wrote, each once, at most `limit`. */
export function readDiagnostics(stderr: string, limit = 20): Diagnostic[] {
  const found = new Map<string, Diagnostic>();
  for (const line of stderr.split('\n')) {
    const groups = (place.exec(line) ?? linkedSymbol.exec(line) ?? linker.exec(line))?.groups;
    if (groups === undefined) continue;
    const diagnostic = {
      file: groups.file ?? null,
      line: groups.line === undefined ? null : Number(groups.line),
      // Where the object lies says nothing; which source it comes from does.
      message: (groups.message as string)
        .replace(/; \S*?([\w.-]+\.cpp):\(\S+\): first defined here/, '; first defined in $1')
        .slice(0, 500),
    };
    found.set(`${diagnostic.file}:${diagnostic.line}:${diagnostic.message}`, diagnostic);
    if (found.size === limit) break;
  }
  return [...found.values()];
}
