import type { Platform, Selection } from '../../model/catalog.ts';
import { coveredWeightFormats, platforms, weightFormats } from '../../model/constraints.ts';
import {
  type CoverageCell,
  type CoverageMatrix,
  type CoverageRow,
  coverageStates,
  evidenceStates,
  type PartEvidence,
} from '../../model/coverage.ts';
import { allowedValues, type Target, type TargetKey } from '../../model/target.ts';
import { compareBytes } from '../read-tree.ts';
import { selectRealizations } from '../select-realizations.ts';
import { judgeEvidence } from './judge-evidence.ts';
import type { KnowledgeView } from './knowledge-view.ts';
import { modelKeys, representativeRows, type TargetRow } from './representative-rows.ts';

/** Agents may write whatever the target's platform lets them. */
const byAgents = { mode: 'knowledge-first', hasModel: true } as const;

/** What a run must have had in common with a cell for the cell to rest on it. */
const shownKeys: readonly TargetKey[] = [...modelKeys, 'numerics.weights', 'numerics.kv_cache', 'serving.kv'];

/** What can be made for which kind of model, on which platform, in which format, and what stands behind it. Pure. */
export function coverKnowledge(view: KnowledgeView): CoverageMatrix {
  const columns = listColumns(view);
  const parts: Record<string, PartEvidence> = {};
  const rows = representativeRows(
    view.catalog,
    view.examples.map(({ target }) => target),
  ).map((row): CoverageRow => {
    const { name, family, features, models } = row;
    const cells = columns.map(({ platform, weights }) => {
      const found = coverCell(view, row, platform, weights);
      Object.assign(parts, found.parts);
      return found.cell;
    });
    return { name, family, features, models, cells };
  });
  const states = rows.flatMap(({ cells }) => cells.map(({ state }) => state));
  const counts = Object.fromEntries(
    coverageStates.map((state) => [state, states.filter((found) => found === state).length]),
  ) as CoverageMatrix['counts'];
  return {
    catalogSha256: view.catalog.sha256,
    columns: columns.map(({ platform, weights }) => ({ platform: platform.id, weights })),
    ...{ rows, counts },
    parts: Object.fromEntries(Object.entries(parts).sort(([a], [b]) => compareBytes(a, b))),
  };
}

/** Every platform with every format that a realization is for. */
function listColumns({ catalog }: KnowledgeView): { platform: Platform; weights: string }[] {
  const used = catalog.contracts.flatMap(({ realizations }) =>
    realizations.flatMap(({ applies }) => allowedValues(applies, 'numerics.weights') ?? []),
  );
  const order: readonly string[] = [...weightFormats.covered, ...weightFormats.reserved];
  const formats = [...new Set(used.map(String))].sort(
    (a, b) => order.indexOf(a) - order.indexOf(b) || compareBytes(a, b),
  );
  return catalog.platforms.flatMap((platform) => formats.map((weights) => ({ platform, weights })));
}

interface FoundCell {
  readonly cell: CoverageCell;
  readonly parts: Readonly<Record<string, PartEvidence>>;
}

/** The best arch of the platform; the first of those that are equal. */
function coverCell(view: KnowledgeView, row: TargetRow, platform: Platform, weights: string): FoundCell {
  const found = Object.keys(platform.archs).map((arch) =>
    coverTarget(view, {
      ...row.target,
      'hardware.platform': platform.id,
      'hardware.arch': arch,
      'numerics.weights': weights,
    }),
  );
  const rank = ({ cell }: FoundCell) => coverageStates.indexOf(cell.state);
  const weakness = ({ parts }: FoundCell) =>
    Object.values(parts).reduce((sum, { state }) => sum + evidenceStates.indexOf(state), 0);
  const [best] = found.sort((a, b) => rank(a) - rank(b) || weakness(a) - weakness(b));
  if (best !== undefined) return best;
  const says = `${platform.id} has no arch`;
  return {
    cell: {
      platform: platform.id,
      weights,
      arch: null,
      state: 'missing',
      says,
      open: [],
      parts: [],
      repeat: [],
    },
    parts: {},
  };
}

/** One target by itself. */
export function coverTarget(view: KnowledgeView, target: Target): FoundCell {
  const selection = selectRealizations(view.catalog, target, byAgents);
  const arch = String(target['hardware.arch']);
  const place = {
    platform: String(target['hardware.platform']),
    weights: String(target['numerics.weights']),
    arch,
  };
  const judged = selection.contracts.flatMap(({ contract, realization }) =>
    realization === undefined ? [] : [judgeEvidence(view, contract, realization, target)],
  );
  const named = judged.map(({ example, ...part }) => ({
    key: `${part.contract}/${part.realization} on ${part.platform} ${part.arch} ${part.weights}`,
    ...{ part, example },
  }));
  const gap = findGap(selection, target);
  const weak = named.filter(({ part }) => part.state !== 'repeatable');
  const unseen = shownKeys.find((key) => !named.some(({ example }) => example?.target[key] === target[key]));
  const repeat = [...new Set(named.flatMap(({ part }) => part.repeat))];
  const parts = Object.fromEntries(named.map(({ key, part }) => [key, part]));
  const state: Pick<CoverageCell, 'state' | 'says' | 'repeat'> =
    gap.state !== undefined
      ? { state: gap.state, says: gap.says, repeat: [] }
      : weak.length > 0
        ? {
            state: 'composed',
            says: sayWeak(
              weak.map(({ part }) => part),
              named.length,
            ),
            repeat: [],
          }
        : unseen !== undefined
          ? {
              state: 'composed',
              says: `no run with ${unseen} = ${target[unseen]} can be repeated`,
              repeat: [],
            }
          : { state: 'verified', says: `every one of ${named.length} parts passed in a run`, repeat };
  return { cell: { ...place, ...state, open: gap.open, parts: Object.keys(parts) }, parts };
}

function sayWeak(weak: readonly PartEvidence[], total: number): string {
  const [first] = weak;
  const reasons = new Set(weak.map(({ says }) => says));
  const subject = `${weak.length} of ${total} parts`;
  return reasons.size === 1
    ? `${subject}: ${first?.says}`
    : `${subject}, the first ${first?.contract}/${first?.realization}: ${first?.says}`;
}

interface GapOfCell {
  readonly state?: 'agents only' | 'missing';
  readonly says: string;
  readonly open: CoverageCell['open'];
}

function findGap({ contracts, missing }: Selection, target: Target): GapOfCell {
  const open = contracts
    .filter(({ status }) => status === 'agent' || status === 'missing')
    .map(({ contract, reason }) => ({ contract: contract.frontMatter.id, reason }));
  const unnamed = missing
    .filter((line) => !open.some(({ reason }) => reason === line))
    .map((line) => ({ contract: line.split(':')[0] ?? line, reason: line }));
  const all = [...unnamed, ...open];
  const refused = refusedByFiles(target);
  if (refused !== undefined) return { state: 'missing', says: refused, open: all };
  if (missing.length > 0) return { state: 'missing', says: missing[0]!, open: all };
  if (open.length > 0) return { state: 'agents only', says: open[0]!.reason, open: all };
  return { says: '', open: [] };
}

/** A constraint file that asks for this is answered "not covered yet", whatever knowledge holds. */
function refusedByFiles(target: Target): string | undefined {
  const platform = String(target['hardware.platform']);
  const weights = String(target['numerics.weights']);
  if (!platforms.covered.some((covered) => covered === platform))
    return `constraint files may not ask for ${platform} yet (src/model/constraints.ts)`;
  if (coveredWeightFormats(platform).includes(weights)) return undefined;
  return `constraint files may not ask for ${weights} weights on ${platform} yet (src/model/constraints.ts)`;
}
