import { platforms, weightFormats } from '../model/constraints.ts';
import type { PartialConstraints } from './partial-constraints.ts';

/** A value that is understood and that no knowledge fills yet: not a fault of the file. */
export interface NotCovered {
  readonly path: string;
  readonly value: string;
  readonly message: string;
}

interface Coverage {
  readonly path: string;
  readonly value: string | number | undefined;
  readonly covered: readonly (string | number)[];
}

/** Known values of a file that are not covered yet. A later issue takes a value in by adding it here. */
export function findNotCovered(constraints: PartialConstraints): NotCovered[] {
  const { hardware, numerics, parallelism, serving } = constraints;
  const fields: readonly Coverage[] = [
    { path: 'hardware.platform', value: hardware?.platform, covered: platforms.covered },
    { path: 'hardware.devices', value: hardware?.devices, covered: [1] },
    { path: 'numerics.weights', value: numerics?.weights, covered: weightFormats.covered },
    { path: 'numerics.kv_cache', value: numerics?.kv_cache, covered: ['f32'] },
    { path: 'numerics.activations', value: numerics?.activations, covered: ['f32'] },
    { path: 'parallelism.tensor', value: parallelism?.tensor, covered: [1] },
    { path: 'serving.interface', value: serving?.interface, covered: ['cli'] },
    { path: 'serving.kv', value: serving?.kv, covered: ['contiguous'] },
  ];
  return fields.flatMap(({ path, value, covered }) => {
    if (value === undefined || covered.includes(value)) return [];
    const message = `${path}: ${value} is known, but not covered yet: no realization exists for it. Covered now: ${covered.join(', ')}.`;
    return [{ path, value: String(value), message }];
  });
}
