import type { ShapeWork } from './bundle-manifest.ts';

/**
 * What nothing can avoid in the shapes that are measured, as the packer works it out of their models (a test holds the
 * two together): a report is held against it without its bundle. Bytes of bf16 weights and f32 keys and values.
 */
export const knownShapes: Readonly<Record<string, ShapeWork>> = {
  'qwen3-8b': {
    weightBytesPerStep: 15_136_811_008,
    kvBytesPerPosition: 294_912,
    prefillFlops: { 512: 7_191_170_908_160, 4096: 61_849_981_681_664 },
  },
  'qwen3-0.6b': {
    weightBytesPerStep: 1_192_099_840,
    kvBytesPerPosition: 229_376,
    prefillFlops: { 512: 481_406_222_336, 4096: 5_532_698_804_224 },
  },
};
