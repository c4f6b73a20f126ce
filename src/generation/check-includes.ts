import { cudaIncludes } from '../model/code-cuda.ts';
import { allowedIncludes } from '../model/code-names.ts';
import { findIncludes } from '../model/cpp-tokens.ts';
import type { EngineFile } from '../model/engine.ts';
import type { Problem } from '../model/problem.ts';

/** An engine includes its own headers and those on the list; everything else is named with its place. */
export function checkIncludes(files: readonly EngineFile[]): Problem[] {
  const own = new Set(files.filter((file) => file.path.endsWith('.h')).map((file) => file.path));
  const hasCuda = files.some((file) => file.path.endsWith('.cu'));
  return files
    .filter((file) => /\.(?:h|cpp|cu)$/.test(file.path))
    .flatMap((file) =>
      findIncludes(file.text)
        .filter(({ written }) => {
          const name = written.slice(1, -1);
          return written.startsWith('<')
            ? !allowedIncludes.has(name) && !(hasCuda && cudaIncludes.has(name))
            : !written.startsWith('"') || !own.has(name);
        })
        .map(({ written, line }) => ({
          severity: 'error',
          code: 'include-not-allowed',
          file: file.path,
          line,
          message: `${written} is neither a header of this engine nor on the list of allowed headers`,
        })),
    );
}
