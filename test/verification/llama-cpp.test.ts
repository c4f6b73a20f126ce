import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readModelConfig } from '../../src/model/model-config.ts';
import type { ModelFacts } from '../../src/model/model-facts.ts';
import type { FloatFormat } from '../../src/verification/float-formats.ts';
import { writeGguf } from '../../src/verification/gguf.ts';
import { buildLlamaCppDriver, findLlamaCpp, startLlamaCpp } from '../../src/verification/llama-cpp.ts';
import { openCheckpoint } from '../../src/verification/safetensors.ts';
import { probeSandbox } from '../../src/verification/sandbox.ts';

const fixtures = join(import.meta.dirname, '../fixtures/checkpoints');
const folder = mkdtempSync(join(tmpdir(), 'metainfer-llama-'));
const sandbox = probeSandbox('auto');
let program = '';

function factsOf(name: string): ModelFacts {
  const { facts } = readModelConfig(JSON.parse(readFileSync(join(fixtures, name, 'config.json'), 'utf8')));
  if (facts === undefined) throw new Error(`${name} has no facts`);
  return facts;
}

function toGguf(name: string, format: FloatFormat, facts = factsOf(name)): string {
  const checkpoint = openCheckpoint(join(fixtures, name));
  const path = join(folder, `${name}-${format}.gguf`);
  writeGguf({ facts, checkpoint, format, path, context: 512 });
  checkpoint.close();
  return path;
}

function start(ggufPath: string, slots = 1) {
  return startLlamaCpp({
    program,
    ggufPath,
    threads: 1,
    context: 512,
    slots,
    kvType: 'f32',
    flashAttention: 'off',
    sandbox,
  });
}

function reference(name: string): { ids: number[]; logits: Float32Array } {
  const bytes = readFileSync(join(fixtures, name, 'logits.f32'));
  const copy = new Uint8Array(bytes);
  return {
    ids: JSON.parse(readFileSync(join(fixtures, name, 'ids.json'), 'utf8')),
    logits: new Float32Array(copy.buffer),
  };
}

function largestDifference(rows: readonly Float32Array[], wanted: Float32Array): number {
  let largest = 0;
  let at = 0;
  for (const row of rows)
    for (const value of row) largest = Math.max(largest, Math.abs(value - wanted[at++]!));
  return at === wanted.length ? largest : Number.NaN;
}

describe.skipIf(findLlamaCpp() === undefined)('the llama.cpp peer', () => {
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    program = await buildLlamaCppDriver(join(folder, 'cache'), findLlamaCpp());
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(['qwen3', 'llama-default', 'llama3-scaled'])(
    'computes the float64 logits of %s from the f32 file that we write, in chunks of any length',
    async (name) => {
      const { ids, logits } = reference(name);
      const client = await start(toGguf(name, 'f32'));
      expect(largestDifference(await client.logits(ids, [100, 1, 1, ids.length - 102]), logits)).toBeLessThan(
        1e-3,
      );
      expect((await client.quit()).exitCode).toBe(0);
    },
  );

  it('reads our f16 and bf16 files, with the rounding that each brings', async () => {
    const { ids, logits } = reference('llama-default');
    for (const [format, least, most] of [
      ['f16', 1e-3, 0.1],
      ['bf16', 0.01, 1],
    ] as const) {
      const client = await start(toGguf('llama-default', format));
      const difference = largestDifference(await client.logits(ids), logits);
      await client.quit();
      expect(difference).toBeGreaterThan(least);
      expect(difference).toBeLessThan(most);
    }
  });

  it('shows a rope that is not the model’s: llama3 scaling left out of the file moves the logits', async () => {
    const { ids, logits } = reference('llama3-scaled');
    const facts: ModelFacts = { ...factsOf('llama3-scaled'), ropeScaling: { kind: 'none' } };
    const client = await start(toGguf('llama3-scaled', 'f32', facts));
    expect(largestDifference(await client.logits(ids), logits)).toBeGreaterThan(0.1);
    await client.quit();
  });

  it('decodes greedily what its own teacher-forced logits say, alone and beside another sequence', async () => {
    const { ids } = reference('qwen3');
    const prompts = [ids.slice(0, 40), ids.slice(60, 85)];
    const client = await start(toGguf('qwen3', 'f32'), 2);
    const first = [];
    for (const [slot, prompt] of prompts.entries()) first.push((await client.prefill(slot, prompt)).argmax);
    const together = await client.batchDecode(first, 12);
    for (const [slot, prompt] of prompts.entries()) {
      const begin = await client.prefill(0, prompt);
      const alone = await client.decode(0, begin.argmax, 12);
      expect(begin.argmax).toBe(first[slot]);
      expect(together.argmax.map((step) => step[slot])).toEqual(alone.argmax);
      const whole = [...prompt, begin.argmax, ...alone.argmax.slice(0, -1)];
      const last = (await client.logits(whole)).at(-1)!;
      expect(largestDifference([alone.logits], last)).toBeLessThan(1e-3);
    }
    await client.quit();
  });

  it('refuses a file that is no GGUF, a token outside the vocabulary and an unknown operation, and lives on', async () => {
    await expect(start(join(fixtures, 'qwen3', 'config.json'))).rejects.toMatchObject({
      code: 'BASELINE_UNAVAILABLE',
    });
    const client = await start(toGguf('qwen3', 'f32'));
    await expect(client.prefill(0, [5, 353])).rejects.toThrow('outside the vocabulary');
    await expect(client.prefill(1, [5])).rejects.toThrow('slot 1 does not exist');
    await expect(client.trace([1, 2])).rejects.toThrow('does not answer opcode 4');
    expect((await client.prefill(0, [5, 352])).logits).toHaveLength(353);
    await client.quit();
  });

  it('says that the baseline is unavailable where its package is not installed', async () => {
    expect(findLlamaCpp('/')).toBeUndefined();
    await expect(buildLlamaCppDriver(folder, findLlamaCpp('/'))).rejects.toMatchObject({
      code: 'BASELINE_UNAVAILABLE',
    });
  });
});
