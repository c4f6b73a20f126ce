/** One fault of a text that a person wrote (constraint file, contract, config.json), with its place. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** Stable, kebab-case, e.g. `unknown-key`, `wrong-type`, `tab-indent`. */
  readonly code: string;
  /** File name as the person knows it; absent for a text without one. */
  readonly file?: string;
  /** 1-based; absent where the fault has no place (an empty file). */
  readonly line?: number;
  /** 1-based, in UTF-16 code units. */
  readonly column?: number;
  /** Dotted field path, e.g. `goals.require.ttft_ms_p50`; absent for syntax faults. */
  readonly path?: string;
  /** One sentence: what was found and what was expected. */
  readonly message: string;
  readonly suggestion?: string;
}

/** `file:line:column path: message (suggestion)`, one line. */
export function formatProblem(problem: Problem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== undefined).join(':');
  const head = [place, problem.path].filter((part) => part !== undefined && part !== '').join(' ');
  const tail = problem.suggestion === undefined ? '' : ` ${problem.suggestion}`;
  return `${head === '' ? '' : `${head}: `}${problem.severity === 'warning' ? 'warning: ' : ''}${problem.message}${tail}`;
}
