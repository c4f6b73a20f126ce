import type { CoverageState } from '../../model/coverage.ts';
import type { CellChange, KnowledgeDiff } from '../../model/knowledge-diff.ts';

const mostNamed = 4;
/** Parts of a contract that end up in an engine; the others decide whether it is right. */
const inEngine = /^(?:header$|.+\.(?:cpp|cu) (?:added|removed|changed)$)/;
const deciding: readonly string[] = ['gate', 'shim', 'reference', 'text'];

/** What a person who asks for engines will notice, in one paragraph. */
export function predictEffect({ contracts, facts, cells }: Omit<KnowledgeDiff, 'effect'>): string {
  if (contracts.length === 0 && facts.length === 0 && cells.length === 0)
    return 'Nothing changed: the same request gives the same engine with the same evidence.';
  const isFilled = (state: CoverageState | null) => state === 'verified' || state === 'composed';
  const moved = (test: (cell: CellChange) => boolean) => cells.filter(test);
  const rewritten = contracts.filter(
    ({ change, parts }) => change !== 'changed' || parts.some((part) => inEngine.test(part)),
  );
  const judged = contracts.filter(({ parts }) => parts.some((part) => deciding.includes(part)));
  const sentences = [
    tellCells(
      moved(({ from, to }) => !isFilled(from) && isFilled(to)),
      'can now be made without a model call',
    ),
    tellCells(
      moved(({ from, to }) => isFilled(from) && to === 'agents only'),
      'will need agents',
    ),
    tellCells(
      moved(({ from, to }) => isFilled(from) && (to === 'missing' || to === null)),
      'can no longer be made',
    ),
    tellCells(
      moved(({ from, to }) => from !== 'verified' && to === 'verified'),
      'are verified now',
    ),
    tellCells(
      moved(({ from, to }) => from === 'verified' && to === 'composed'),
      'are no longer verified, until their runs are repeated',
    ),
    tellContracts(rewritten, 'Engines made from now on have other code for'),
    tellContracts(judged, 'What is right is decided otherwise, or said more sharply, for'),
  ].filter((sentence) => sentence !== '');
  return sentences.length === 0
    ? 'Requests give the same engines as before; what is recorded about them changed.'
    : sentences.join(' ');
}

function tellCells(cells: readonly CellChange[], says: string): string {
  if (cells.length === 0) return '';
  const names = cells.map(({ row, platform, weights }) => `${row} on ${platform} in ${weights}`);
  const shown = names.slice(0, mostNamed).join('; ');
  const more = names.length > mostNamed ? `; and ${names.length - mostNamed} more` : '';
  const verb = cells.length === 1 ? says.replace(/^are/, 'is') : says;
  return `${cells.length === 1 ? 'One kind of engine' : `${cells.length} kinds of engine`} ${verb}: ${shown}${more}.`;
}

function tellContracts(changes: KnowledgeDiff['contracts'], says: string): string {
  if (changes.length === 0) return '';
  const names = changes.slice(0, 2 * mostNamed).map(({ contract }) => contract);
  const more = changes.length > names.length ? ` and ${changes.length - names.length} more` : '';
  return `${says} ${names.join(', ')}${more}.`;
}
