import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from '../preparation/read-request.ts';
import { openCacheFolder } from '../verification/cache-folder.ts';
import { writeSyntheticCheckpoint } from '../verification/synthetic-weights.ts';

/**
 * The checkpoint folder of a request: the model's own, or synthetic weights made once for these shapes, seed and
 * format and kept in the cache.
 */
export async function provideWeights(
  request: Request,
  options: {
    readonly cacheFolder: string;
    readonly signal: AbortSignal;
    readonly onProgress: (text: string) => void;
  },
): Promise<string> {
  const { constraints, model } = request;
  if (model.folder !== undefined || constraints.weights.source === 'checkpoint') return model.folder!;
  const dtype = constraints.numerics.weights === 'f32' ? 'f32' : 'bf16';
  const { seed } = constraints.weights;
  const key = createHash('sha256')
    .update(JSON.stringify([model.config, model.generationConfig ?? null, seed, dtype]))
    .digest('hex');
  const folder = join(options.cacheFolder, 'weights', `synthetic-${key.slice(0, 16)}`);
  if (existsSync(join(folder, 'config.json'))) return folder;
  openCacheFolder(join(options.cacheFolder, 'weights'));
  await writeSyntheticCheckpoint(folder, model.config, {
    seed,
    dtype,
    ...(model.generationConfig === undefined ? {} : { generationConfig: model.generationConfig }),
    signal: options.signal,
    onProgress: (done, total) =>
      options.onProgress(
        `synthetic weights ${Math.round((100 * done) / total)} % of ${(total / 1e9).toFixed(2)} GB`,
      ),
  });
  return folder;
}
