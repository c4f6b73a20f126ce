import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../../src/model/errors.ts';
import { readFolder } from '../../src/preparation/locate-model.ts';
import { openOracle } from '../../src/verification/oracle.ts';
import { type BuiltEngine, buildEngine } from '../fixtures/built-engine.ts';
import { type RecipeName, writeRandomCheckpoint } from '../fixtures/random-checkpoint.ts';
import { maxDifference } from '../fixtures/reference-checkpoint.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-unusual-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Json = Record<string, unknown>;
interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

function changeJson(path: string, change: (json: Json) => Json): void {
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')) as Json)));
}

/** Puts one more tensor behind the others of model.safetensors. */
function addTensor(folder: string, name: string, tensor: Omit<Entry, 'data_offsets'>, data: Buffer): void {
  const path = join(folder, 'model.safetensors');
  const bytes = readFileSync(path);
  const end = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, end)) as Record<string, Entry>;
  const old = bytes.subarray(end);
  header[name] = { ...tensor, data_offsets: [old.length, old.length + data.length] };
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(path, Buffer.concat([length, text, old, data]));
}

function readTensor(folder: string, name: string): { entry: Entry; data: Buffer } {
  const bytes = readFileSync(join(folder, 'model.safetensors'));
  const end = 8 + Number(bytes.readBigUInt64LE(0));
  const entry = (JSON.parse(bytes.toString('utf8', 8, end)) as Record<string, Entry>)[name]!;
  const [from, to] = entry.data_offsets;
  return { entry, data: Buffer.from(bytes.subarray(end + from, end + to)) };
}

let count = 0;
async function checkpoint(recipe: RecipeName, change: (folder: string) => void): Promise<string> {
  const folder = join(root, `${recipe}-${count++}`);
  await writeRandomCheckpoint(folder, recipe);
  change(folder);
  return folder;
}

async function refusal(folder: string): Promise<string> {
  const error: unknown = await readFolder(folder).catch((reason: unknown) => reason);
  if (error instanceof AppError) return error.message;
  throw new Error('it was not refused');
}

const ids = Array.from({ length: 40 }, (_, index) => (index * 37 + 5) % 211);

/** Loads a checkpoint into an engine and compares its logits with the oracle's on the same folder. */
async function differenceFromOracle(engine: BuiltEngine, folder: string): Promise<number> {
  const { facts } = await readFolder(folder);
  const client = engine.start([folder]);
  const oracle = openOracle(folder, { facts, weightFormat: 'bf16' });
  try {
    await client.load(folder);
    return maxDifference((await oracle.run(ids)).logits, await client.logits(ids));
  } finally {
    await oracle.close();
    await client.quit();
  }
}

const tied = await buildTied();

async function buildTied(): Promise<BuiltEngine> {
  mkdirSync(join(root, 'engines'));
  const folder = await checkpoint('llama-tied', () => {});
  return buildEngine(join(root, 'engines'), { name: 'tied', model: { path: folder } });
}

describe('a tied checkpoint', () => {
  const copyHead = (folder: string): void => {
    const { entry, data } = readTensor(folder, 'model.embed_tokens.weight');
    addTensor(folder, 'lm_head.weight', { dtype: entry.dtype, shape: entry.shape }, data);
  };

  it('is accepted with an lm_head that repeats the embedding, and gives the right logits', async () => {
    const folder = await checkpoint('llama-tied', copyHead);
    expect(await differenceFromOracle(tied, folder)).toBeLessThanOrEqual(1e-3);
  });

  it('is refused by name with an lm_head of its own, by the program and by the engine', async () => {
    const folder = await checkpoint('llama-tied', (path) => {
      const { entry, data } = readTensor(path, 'model.embed_tokens.weight');
      data[0]! ^= 1;
      addTensor(path, 'lm_head.weight', { dtype: entry.dtype, shape: entry.shape }, data);
    });
    expect(await refusal(folder)).toContain('lm_head.weight');
    const client = tied.start([folder]);
    await expect(client.load(folder)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('lm_head.weight'),
    });
    await client.quit();
  });
});

describe('rotary buffers that old transformers saved', () => {
  it('are read over, and the logits are right', async () => {
    const folder = await checkpoint('llama-tied', (path) => {
      for (const layer of [0, 1, 2]) {
        const name = `model.layers.${layer}.self_attn.rotary_emb.inv_freq`;
        addTensor(path, name, { dtype: 'F32', shape: [10] }, Buffer.alloc(40, 7));
      }
    });
    expect(await differenceFromOracle(tied, folder)).toBeLessThanOrEqual(1e-3);
  });
});

describe('the layout of transformers 5 with a list of end-of-text tokens', () => {
  const ends = [2, 77, 140];
  const modernise = ({ rope_theta, torch_dtype, ...rest }: Json): Json => ({
    ...rest,
    dtype: torch_dtype ?? 'bfloat16',
    rope_parameters: { rope_type: 'default', rope_theta: 20_000 },
    eos_token_id: ends,
  });
  let folder = '';
  let engine: BuiltEngine | undefined;
  beforeAll(async () => {
    folder = await checkpoint('llama-untied', (path) => {
      changeJson(join(path, 'config.json'), modernise);
      writeFileSync(join(path, 'generation_config.json'), JSON.stringify({ eos_token_id: ends }));
    });
    engine = await buildEngine(join(root, 'engines'), { name: 'modern', model: { path: folder } });
  });

  it('is read, and the logits are right', async () => {
    const { facts } = await readFolder(folder);
    expect([facts.eosTokenIds, facts.ropeTheta]).toEqual([ends, 20_000]);
    expect(await differenceFromOracle(engine!, folder)).toBeLessThanOrEqual(1e-3);
  });

  it('is refused where it states a fact that the engine was not made for', async () => {
    const other = await checkpoint('llama-untied', (path) =>
      changeJson(join(path, 'config.json'), (json) => ({
        ...modernise(json),
        rope_parameters: { rope_type: 'default', rope_theta: 50_000 },
      })),
    );
    const client = engine!.start([other]);
    await expect(client.load(other)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('rope_theta'),
    });
    await client.quit();
  });

  it('ends the text at each of its ends, and nowhere later', async () => {
    const client = engine!.start([folder]);
    try {
      await client.load(folder);
      const met = new Set<number>();
      for (let seed = 0; seed < 400 && met.size < ends.length; seed++) {
        const request = { prompt_ids: [5, 9], max_tokens: 200, temperature: 4, seed };
        const { finish_reason, ids: all } = await client.generate(request);
        expect(all.slice(0, -1).filter((id) => ends.includes(id))).toEqual([]);
        if (finish_reason === 'eos') met.add(all.at(-1)!);
      }
      expect([...met].toSorted((a, b) => a - b)).toEqual(ends);
    } finally {
      await client.quit();
    }
  });
});
