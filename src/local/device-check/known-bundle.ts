import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../model/errors.ts';
import type { BundleManifest } from './bundle-manifest.ts';
import type { KnownBundle } from './check-device.ts';
import { isBundle } from './pack-bundle.ts';

/**
 * What a bundle's manifest says, for its report to be held against.
 * @throws AppError USAGE where the folder holds no bundle
 */
export function readKnownBundle(folder: string): KnownBundle {
  if (!isBundle(folder)) throw new AppError('USAGE', `${folder} holds no bundle of a device check.`);
  const bytes = readFileSync(join(folder, 'manifest.json'));
  const { createdAt, catalogSha256, seed, shapes, units } = JSON.parse(
    bytes.toString('utf8'),
  ) as BundleManifest;
  return {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    ...{ createdAt, catalogSha256, seed },
    shapes: shapes.map(({ id }) => id),
    units: units.map(({ id }) => id),
  };
}
