import { describe, expect, test } from 'vitest';
import { readSide } from '../../../src/knowledge/change/knowledge-side.ts';
import { checkCompleteness } from '../../../src/knowledge/completeness/check-completeness.ts';
import { type LoadedContract, loadContractFolder } from '../../../src/knowledge/contract-folder.ts';
import { formatProblem } from '../../../src/model/problem.ts';
import { page, present, textOf, withEdits } from '../change/change-world.ts';
import { type Deletion, listDeletions } from './deletions.ts';

const contracts = [...readSide(present).contracts.values()];
const pageOf = ({ contract }: LoadedContract) => textOf(page(contract.folder));

/** Whether a hole is reported that the whole contract hasn't, or the loader itself refuses what is left. */
function isFound(loaded: LoadedContract, known: ReadonlySet<string>, deletion: Deletion): boolean {
  const { folder } = loaded.contract;
  const read = loadContractFolder(withEdits({ [page(folder)]: deletion.page }), folder);
  if (read.loaded === undefined) return read.problems.length > 0;
  return checkCompleteness(read.loaded, deletion.page).holes.some(({ message }) => !known.has(message));
}

describe('completeness of the contracts as they stand', () => {
  test('has no hole that is an error in any of them', () => {
    const holes = contracts.flatMap((loaded) => checkCompleteness(loaded, pageOf(loaded)).holes);
    expect(holes.filter(({ severity }) => severity === 'error').map(formatProblem)).toEqual([]);
  });

  test('is a score by points of one protocol, with each hole at a line', () => {
    for (const loaded of contracts) {
      const { protocol, points, of, score, holes } = checkCompleteness(loaded, pageOf(loaded));
      expect([protocol, of - points]).toEqual([1, holes.length]);
      expect(score).toBeCloseTo(points / of, 4);
      expect(score).toBeGreaterThan(0.7);
      for (const { line } of holes) expect(line).toBeGreaterThan(1);
    }
  });
});

describe('one statement taken out of a contract', () => {
  const tried = contracts.flatMap((loaded) => {
    const known = new Set(checkCompleteness(loaded, pageOf(loaded)).holes.map(({ message }) => message));
    return listDeletions(loaded, pageOf(loaded)).map((deletion) => ({
      ...deletion,
      isFound: isFound(loaded, known, deletion),
    }));
  });
  const rate = (kind: string) => {
    const of = tried.filter((deletion) => deletion.kind === kind);
    return of.filter((deletion) => deletion.isFound).length / of.length;
  };

  test('is found in every contract, in at least four kinds of statements over all', () => {
    const found = tried.filter((deletion) => deletion.isFound);
    expect(new Set(found.map(({ contract }) => contract)).size).toBe(contracts.length);
    expect(contracts.length).toBeGreaterThanOrEqual(25);
    expect(new Set(found.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(4);
  });

  // Measured when the protocol was made. What is said twice (a formula beside its steps) leaves no hole; an edge that
  // nothing else names is beyond a checker that doesn't understand the text: there an agent has to try.
  test.each([
    ['errors', 1],
    ['tie-break', 1],
    ['section', 0.95],
    ['numbered step', 0.75],
    ['threads', 0.7],
    ['shape', 0.6],
    ['aliasing', 0.6],
    ['config key', 0.5],
    ['symbol', 0.5],
    ['dtype', 0.4],
    ['layout', 0.35],
    ['computing step', 0.1],
    ['edge', 0.05],
  ] as const)('of the kind "%s" is found in a share of at least %d', (kind, share) => {
    expect(rate(kind)).toBeGreaterThanOrEqual(share);
  });
});
