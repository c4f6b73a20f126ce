import {
  type ConfigReader,
  isAbsent,
  ownValue,
  readBoolean,
  readNumber,
  refuse,
  show,
} from './model-config-reader.ts';
import type { ModelFamily } from './model-facts.ts';

const windowRule = { min: 1, max: 2 ** 31 - 1, integer: true };

/**
 * Keys that a query of each layer sees, itself included; 0 = all. transformers: mistral slides on every layer (an
 * absent key means 4096, null means none), mixtral too (absent: none), qwen3_moe with `use_sliding_window`; qwen2 and
 * qwen3 only with `use_sliding_window`, from `max_window_layers` on or as `layer_types` says; gemma2 on every second
 * layer, from the first on, or as `layer_types` says; llama has no window.
 */
export function readLayerWindows(reader: ConfigReader, family: ModelFamily, numLayers: number): number[] {
  const layers = Number.isInteger(numLayers) ? numLayers : 0;
  const isSliding = readLayerTypes(reader, layers);
  const windows = familyWindows(reader, family, layers, isSliding);
  if (isSliding?.some((slides, layer) => slides !== windows[layer]! > 0)) {
    const message = 'layer_types contradicts sliding_window and use_sliding_window.';
    refuse(reader, 'layer_types', 'contradiction', message);
  }
  return windows;
}

function familyWindows(
  reader: ConfigReader,
  family: ModelFamily,
  layers: number,
  isSliding: readonly boolean[] | undefined,
): number[] {
  const full = new Array<number>(layers).fill(0);
  const isExplicitlyNone = ownValue(reader, 'sliding_window') === null;
  if (family === 'llama') {
    if (isAbsent(reader, 'sliding_window') && !readBoolean(reader, 'use_sliding_window', false)) return full;
    refuse(reader, 'sliding_window', 'not-implemented', 'sliding_window is not part of the llama family.');
    return full;
  }
  if (family === 'mixtral' && isAbsent(reader, 'sliding_window')) return full;
  const window = isExplicitlyNone
    ? 0
    : readNumber(reader, 'sliding_window', { ...windowRule, otherwise: 4096 });
  if (family === 'gemma2')
    return full.map((_, layer) => ((isSliding?.[layer] ?? layer % 2 === 0) ? window : 0));
  if (family === 'mistral' || family === 'mixtral') return full.map(() => window);
  if (family === 'qwen3_moe' || family === 'qwen2_moe')
    return expertWindows(reader, family, full, window, isSliding);
  const first = readNumber(reader, 'max_window_layers', {
    min: 0,
    max: 100_000,
    integer: true,
    otherwise: 28,
  });
  if (!readBoolean(reader, 'use_sliding_window', false)) return full;
  return full.map((_, layer) => ((isSliding?.[layer] ?? layer >= first) ? window : 0));
}

/**
 * qwen3_moe knows no kinds of layers: all of them slide, or none. The rule of qwen2_moe where a file lists no kinds
 * changed between versions of transformers, so that only a list is taken.
 */
function expertWindows(
  reader: ConfigReader,
  family: ModelFamily,
  full: readonly number[],
  window: number,
  isSliding: readonly boolean[] | undefined,
): number[] {
  if (!readBoolean(reader, 'use_sliding_window', false)) return [...full];
  if (family === 'qwen2_moe' && isSliding === undefined) {
    const message = 'use_sliding_window without layer_types is not implemented for qwen2_moe.';
    refuse(reader, 'use_sliding_window', 'not-implemented', message);
  }
  return full.map((_, layer) => ((isSliding?.[layer] ?? true) ? window : 0));
}

function readLayerTypes(reader: ConfigReader, layers: number): boolean[] | undefined {
  const value = ownValue(reader, 'layer_types');
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) {
    refuse(
      reader,
      'layer_types',
      'wrong-type',
      `layer_types is ${show(value)}; expected a list with one name per layer.`,
    );
    return undefined;
  }
  if (value.length !== layers) {
    const message = `layer_types has ${value.length} entries; expected num_hidden_layers, ${layers}.`;
    refuse(reader, 'layer_types', 'out-of-range', message);
    return undefined;
  }
  const other = value.find((type) => type !== 'full_attention' && type !== 'sliding_attention');
  if (other === undefined) return value.map((type) => type === 'sliding_attention');
  refuse(
    reader,
    'layer_types',
    'not-implemented',
    `layer_types holds ${show(other)}, which is not implemented.`,
  );
  return undefined;
}
