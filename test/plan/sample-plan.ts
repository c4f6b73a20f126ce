import type { SelectedContract, Selection } from '../../src/model/catalog.ts';
import type { Contract, Realization } from '../../src/model/contract.ts';
import type { DeviceRates, Plan } from '../../src/model/plan.ts';
import { toTarget } from '../../src/model/target.ts';
import { makePlan } from '../../src/plan/make-plan.ts';
import { knownPlatforms } from '../constraints/known-platforms.ts';
import { read } from '../constraints/read-case.ts';

const tokenizer = { model: 'none', preTokenizer: 'none', normalizer: 'none' } as const;

function selected(id: string, status: SelectedContract['status']): SelectedContract {
  const header = { name: `${id.replaceAll(/[.-]/g, '_')}.h`, text: '', sha256: '' };
  const contract = { folder: id, frontMatter: { id, version: '1.0.0' }, header } as unknown as Contract;
  const realization = status === 'realization' ? ({ file: 'cpu-x86_64.cpp' } as Realization) : undefined;
  return { contract, realization, status, reason: `because of ${id} | and more`, requires: [] };
}

/** The plan of an accepted file for an engine of one to three contracts that are filled as told. */
export function plan(
  text: string,
  device?: DeviceRates,
  statuses: readonly SelectedContract['status'][] = ['header-only', 'realization'],
): Plan {
  const { constraints, facts, sha256 } = read(text);
  if (constraints === undefined || facts === undefined || sha256 === undefined)
    throw new Error('not accepted');
  const contracts = statuses.map((status, index) =>
    selected(['runtime.context', 'norm.rms', 'mlp.gated'][index]!, status),
  );
  const missing = contracts.filter(({ status }) => status === 'missing').map(({ reason }) => reason);
  const selection: Selection = { target: toTarget(constraints, facts, tokenizer), contracts, missing };
  return makePlan({
    constraints,
    constraintsSha256: sha256,
    facts,
    tokenizer,
    selection,
    catalogSha256: 'c',
    device,
    gpu: knownPlatforms.find(({ id }) => id === constraints.hardware.platform)?.gpu,
  });
}

export const unknown: DeviceRates = { bytesPerSecond: null, flopsPerSecond: null, source: 'unknown' };
export const measured: DeviceRates = { bytesPerSecond: 8e9, flopsPerSecond: 50e9, source: 'measured' };
