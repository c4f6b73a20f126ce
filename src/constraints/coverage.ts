import { coveredWeightFormats, platforms } from '../model/constraints.ts';
import type { MetricName } from '../model/metrics.ts';
import { absoluteGoalForms } from './goal.ts';
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
  /** The platform, where each has its own values. */
  readonly on?: string | undefined;
}

/** Known values of a file that are not covered yet. A later issue takes a value in by adding it here. */
export function findNotCovered(constraints: PartialConstraints): NotCovered[] {
  const { hardware, numerics, parallelism, serving } = constraints;
  const platform = platforms.covered.find((candidate) => candidate === hardware?.platform);
  const formats = coveredWeightFormats(platform);
  const fields: readonly Coverage[] = [
    { path: 'hardware.platform', value: hardware?.platform, covered: platforms.covered },
    { path: 'hardware.devices', value: hardware?.devices, covered: [1] },
    { path: 'numerics.weights', value: numerics?.weights, covered: formats, on: platform },
    { path: 'numerics.kv_cache', value: numerics?.kv_cache, covered: ['f32'] },
    { path: 'numerics.activations', value: numerics?.activations, covered: ['f32'] },
    { path: 'parallelism.tensor', value: parallelism?.tensor, covered: [1] },
    { path: 'serving.interface', value: serving?.interface, covered: ['cli'] },
    { path: 'serving.kv', value: serving?.kv, covered: ['contiguous'] },
  ];
  const found = fields.flatMap(({ path, value, covered, on }) => {
    if (value === undefined || covered.includes(value)) return [];
    const [where, which] = on === undefined ? ['', 'now'] : [` on ${on}`, `on ${on}`];
    const message = `${path}: ${value} is known, but not covered yet${where}: no realization exists for it. Covered ${which}: ${covered.join(', ')}.`;
    return [{ path, value: String(value), message }];
  });
  return [
    ...found,
    ...(platform === 'cuda' ? [...agentsForGpu(constraints), ...goalsWithoutGpu(constraints)] : []),
  ];
}

/** What agents are told, and what checks their code, knows processors only. */
function agentsForGpu({ generation }: PartialConstraints): NotCovered[] {
  const mode = generation?.mode;
  if (mode === undefined || mode === 'knowledge-first') return [];
  const path = 'generation.mode';
  const message = `${path}: ${mode} is known, but not covered yet on cuda: agents write no parts for it. Covered on cuda: knowledge-first.`;
  return [{ path, value: mode, message }];
}

/** Goals that verification can decide on a processor alone. */
function goalsWithoutGpu({ goals }: PartialConstraints): NotCovered[] {
  return (goals?.require ?? []).flatMap(({ metric, written, baseline }) => {
    const path = `goals.require.${metric}`;
    if (baseline !== undefined && metric !== 'peak_memory') {
      const message = `${path}: "${written}" is known, but not covered yet on cuda: the ${baseline} that engines are compared with runs on the processor, so there is no GPU baseline yet. Write an absolute bound: ${absoluteGoalForms(metric as MetricName)}.`;
      return [{ path, value: written, message }];
    }
    if (metric !== 'peak_memory') return [];
    const message = `${path}: "${written}" is known, but not covered yet on cuda: it is measured as the memory of the host process, and this engine keeps its weights in the GPU's. hardware.memory bounds that; leave the goal out.`;
    return [{ path, value: written, message }];
  });
}
