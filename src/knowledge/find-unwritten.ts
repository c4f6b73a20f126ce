import type { Problem } from '../model/problem.ts';
import type { Tree } from './read-tree.ts';

/** What a skeleton leaves to a person: `<WRITE what goes here>`. It passes no check while one of them stands. */
export function markUnwritten(what: string): string {
  return `<WRITE ${what}>`;
}

/** Every place of a contract that still holds the words of its skeleton. */
export function findUnwritten(tree: Tree): Problem[] {
  return [...tree.values()]
    .filter(({ path }) => path.startsWith('contracts/'))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) =>
        [...line.matchAll(/<WRITE ([^<>]+)>/g)].map(
          (match): Problem => ({
            severity: 'error',
            code: 'unwritten',
            file: path,
            line: index + 1,
            column: match.index + 1,
            message: `still to be written: ${match[1]}`,
          }),
        ),
      ),
    );
}
