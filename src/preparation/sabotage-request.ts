import { join } from 'node:path';
import type { SabotageEntry, SabotageFile } from '../model/sabotage.ts';
import { packageRoot } from './package-root.ts';

/** Small engines whose sizes are all different, with room for a few hundred positions. */
export function sabotageRequest(
  name: string,
  spec: SabotageFile['checkpoints'][string],
  weights: SabotageEntry['weights'],
  platform: SabotageFile['platform'],
): string {
  const model = 'path' in spec ? { path: join(packageRoot(), spec.path) } : { config: spec.config };
  return JSON.stringify({
    apiVersion: 'metainfer/v1',
    name: `sabotage-${name}`,
    model,
    weights: 'path' in spec ? { source: 'checkpoint' } : { source: 'synthetic', seed: 11 },
    hardware: { platform, threads: 2, memory: '2GiB' },
    numerics: { weights },
    serving: { max_context: 300, max_batch: 3 },
    workload: { prompt_tokens: 32, output_tokens: 16 },
  });
}
