import { mkdtempSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readModelConfig } from '../../src/model/model-config.ts';
import type { ModelFacts } from '../../src/model/model-facts.ts';
import { writeGguf } from '../../src/verification/gguf.ts';
import { ggufMetadata, ggufObstacle, llama3FrequencyDivisors } from '../../src/verification/gguf-metadata.ts';
import { interleavedRow, planGgufTensors } from '../../src/verification/gguf-tensors.ts';
import { openCheckpoint } from '../../src/verification/safetensors.ts';

const fixtures = join(import.meta.dirname, '../fixtures/checkpoints');

function factsOf(name: string): ModelFacts {
  return readModelConfig(JSON.parse(readFileSync(join(fixtures, name, 'config.json'), 'utf8'))).facts!;
}

test('a file has the size that its directory says, each tensor at a multiple of 32 bytes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'metainfer-gguf-'));
  const checkpoint = openCheckpoint(join(fixtures, 'qwen2'));
  // Wide enough to pretend that heads·head_dim = hidden; llama.cpp does not see this file.
  const facts = factsOf('qwen2');
  const path = join(folder, 'a.gguf');
  try {
    expect(() => writeGguf({ facts, checkpoint, format: 'f32', path, context: 512 })).toThrow(
      'heads·head_dim = hidden',
    );
    const llama = openCheckpoint(join(fixtures, 'llama-default'));
    writeGguf({ facts: factsOf('llama-default'), checkpoint: llama, format: 'bf16', path, context: 512 });
    const bytes = readFileSync(path);
    expect(bytes.subarray(0, 4).toString()).toBe('GGUF');
    expect(bytes.readUInt32LE(4)).toBe(3);
    const plans = planGgufTensors(factsOf('llama-default'), 'bf16');
    expect(Number(bytes.readBigUInt64LE(8))).toBe(plans.length);
    expect(plans.length).toBe(llama.tensors.size);
    expect(bytes.length % 32).toBe(0);
    // The last tensor is the untied head, copied as it is.
    const head = llama.readBytes('lm_head.weight', 0, 397 * 96 * 2);
    const padding = Math.ceil(head.length / 32) * 32 - head.length;
    expect(bytes.subarray(bytes.length - padding - head.length, bytes.length - padding).equals(head)).toBe(
      true,
    );
    llama.close();
  } finally {
    checkpoint.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a broken source leaves no file behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'metainfer-gguf-'));
  const checkpoint = openCheckpoint(join(fixtures, 'qwen3'));
  const facts: ModelFacts = { ...factsOf('qwen3'), tiedHead: false };
  const path = join(folder, 'a.gguf');
  expect(() => writeGguf({ facts, checkpoint, format: 'f32', path, context: 512 })).toThrow(
    'tensor lm_head.weight is missing',
  );
  expect(() => readFileSync(path)).toThrow('ENOENT');
  // Fails where anything is left in it.
  rmdirSync(folder);
});

test('what llama.cpp would silently compute otherwise is refused by name', () => {
  const llama = factsOf('llama-default');
  expect(ggufObstacle({ ...llama, layerWindows: [0, 64, 0, 64] }, 65)).toContain(
    'no sliding window for llama (window 64',
  );
  expect(ggufObstacle({ ...llama, layerWindows: [0, 64, 0, 64] }, 64)).toBeUndefined();
  const yarn = {
    kind: 'yarn',
    factor: 4,
    betaFast: 32,
    betaSlow: 1,
    originalMaxPositions: 64,
    attentionFactor: 1,
    truncate: false,
  } as const;
  expect(ggufObstacle({ ...llama, ropeScaling: yarn }, 512)).toContain('truncate: false');
  const llama3 = factsOf('llama3-scaled').ropeScaling;
  expect(ggufObstacle({ ...factsOf('qwen3'), ropeScaling: llama3 }, 512)).toContain(
    'rope_freqs for llama only',
  );
});

test('llama.cpp’s attention factor is what its own yarn multiplier leaves of the model’s', () => {
  const ropeScaling = {
    kind: 'yarn',
    factor: 4,
    betaFast: 32,
    betaSlow: 1,
    originalMaxPositions: 64,
    attentionFactor: 1.5,
    truncate: true,
  } as const;
  const metadata = new Map(ggufMetadata({ ...factsOf('qwen3'), ropeScaling }, 'f32'));
  const factor = metadata.get('qwen3.rope.scaling.attn_factor')!.value as number;
  expect(factor * (0.1 * Math.log(4) + 1)).toBeCloseTo(1.5, 12);
});

test('llama3 divisors are 1 for short waves, the factor for long ones and blended between', () => {
  const divisors = llama3FrequencyDivisors(factsOf('llama3-scaled'));
  expect(divisors[0]).toBe(1);
  expect(divisors.at(-1)).toBe(8);
  expect(divisors.some((divisor) => divisor > 1 && divisor < 8)).toBe(true);
});

test('the halves of each head are interleaved for llama and left alone for qwen', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((row) => interleavedRow(row, 6))).toEqual([
    0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11,
  ]);
  const interleaved = (name: string) =>
    planGgufTensors(factsOf(name), 'f32')
      .filter((plan) => plan.interleave !== undefined)
      .map((plan) => plan.name);
  expect(interleaved('llama-default')).toHaveLength(8);
  expect(interleaved('qwen3')).toEqual([]);
});
