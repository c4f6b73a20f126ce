import type { Problem } from '../../model/problem.ts';
import type { LoadedContract } from '../contract-folder.ts';
import { checkConstants } from './constant-rules.ts';
import { checkEdges } from './edge-rules.ts';
import { checkInterface } from './interface-rules.ts';
import { readPage } from './requirement.ts';
import { checkText } from './text-rules.ts';

/** How much of what an implementer needs a contract states, by one protocol, so that scores compare over time. */
export interface Completeness {
  readonly contract: string;
  readonly version: string;
  /** Rises whenever a rule is added, dropped or changed. */
  readonly protocol: 1;
  /** Requirements that are met, of those that the interface raises. */
  readonly points: number;
  readonly of: number;
  /** points / of, 0 to 1, to four digits. */
  readonly score: number;
  /** What is not stated, by line. */
  readonly holes: readonly Problem[];
}

/**
 * Blind reconstruction without a model: whether contract.md and the header alone state every symbol, shape, number
 * format, layout, overlap, error, edge, tie-break, output and constant. It sees that something is said, not that it is
 * right: that is what gates are for.
 */
export function checkCompleteness(loaded: LoadedContract, page: string): Completeness {
  const read = readPage(loaded, page);
  const all = [...checkInterface(read), ...checkText(read), ...checkConstants(read), ...checkEdges(read)];
  const points = all.filter(({ isMet }) => isMet).length;
  const { id, version } = loaded.contract.frontMatter;
  return {
    ...{ contract: id, version, protocol: 1, points, of: all.length },
    score: all.length === 0 ? 1 : Number((points / all.length).toFixed(4)),
    holes: all
      .filter(({ isMet }) => !isMet)
      .map(({ hole }) => hole)
      .sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  };
}
