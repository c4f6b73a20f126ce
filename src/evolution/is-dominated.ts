import type { Contract, Evidence, Realization } from '../model/contract.ts';
import { isWithin } from './widest-predicate.ts';

type Known = Pick<Realization, 'file' | 'sha256' | 'applies' | 'replaces' | 'fuses'>;

export interface Domination {
  readonly isDominated: boolean;
  /** Half a sentence: why, or what speaks for the older one. */
  readonly reason: string;
}

const speeds = ['decode_tokens_per_second', 'prefill_tokens_per_second'] as const;

/**
 * Whether nothing speaks for keeping the older realization: the newer one applies wherever it does and fills what it
 * fills, and on every device on which the older one was measured the newer one was measured too, in the same engine, is
 * slower in nothing and faster in something.
 */
export function isDominated(
  older: Known,
  newer: Known,
  known: {
    readonly evidence: readonly Evidence[];
    readonly appliesWhen: Contract['frontMatter']['applies_when'];
    /** The realization that the optimizer had beside the newer one. */
    readonly measuredBeside?: string | undefined;
  },
): Domination {
  const { evidence, appliesWhen } = known;
  const stays = (reason: string): Domination => ({ isDominated: false, reason });
  if (!isWithin({ ...appliesWhen, ...older.applies }, newer.applies))
    return stays('it applies where the new one does not');
  const fills = [...older.replaces, ...older.fuses];
  const unfilled = fills.filter((id) => ![...newer.replaces, ...newer.fuses].includes(id));
  if (unfilled.length > 0) return stays(`it also does the work of ${unfilled.join(', ')}`);
  const own = runsOf(older, evidence);
  if (own.length === 0) return stays('it was never measured, so nothing says that it is slower');
  const news = runsOf(newer, evidence);
  const kept = own.find(
    (run) =>
      !news.some(
        (other) => isSamePlace(run, other) && isFaster(other, run, known.measuredBeside === older.file),
      ),
  );
  return kept === undefined
    ? {
        isDominated: true,
        reason: 'the new one is as fast or faster on every device on which it was measured',
      }
    : stays(`on ${kept.device.cpu}, ${kept.device.threads} threads, the new one was not shown to be faster`);
}

/** Of exactly this text. */
function runsOf({ file, sha256 }: Known, evidence: readonly Evidence[]): readonly Evidence[] {
  return evidence.filter(
    ({ realization, hashes }) => realization === file && hashes.realization.replace('sha256:', '') === sha256,
  );
}

/** Tokens per second of two engines say nothing about a part of them. */
function isSamePlace(a: Evidence, b: Evidence): boolean {
  const place = ({ device, applies, repeat }: Evidence) =>
    JSON.stringify([device.cpu, device.threads, applies, /verify (\S+)/.exec(repeat)?.[1]]);
  return place(a) === place(b);
}

function isFaster(a: Evidence, b: Evidence, isBeside: boolean): boolean {
  // Measured side by side in one run, which beats figures of two runs.
  const { optimizer_ratio: ratio, optimizer_spread: spread } = a.figures;
  if (isBeside && ratio !== undefined) return ratio - (spread ?? 0) > 1;
  const both = speeds.filter((name) => a.figures[name] !== undefined && b.figures[name] !== undefined);
  return (
    both.length > 0 &&
    both.every((name) => a.figures[name]! >= b.figures[name]!) &&
    both.some((name) => a.figures[name]! > b.figures[name]!)
  );
}
