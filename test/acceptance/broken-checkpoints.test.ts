import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineClient } from '../../src/verification/protocol-client.ts';
import {
  type BrokenCheckpoint,
  brokenCheckpoints,
  writeBrokenCheckpoint,
} from '../fixtures/broken-checkpoints.ts';
import { type BuiltEngine, buildEngine } from '../fixtures/built-engine.ts';
import { CommandLine } from '../fixtures/command-line.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';
import { type RecipeName, writeRandomCheckpoint } from '../fixtures/random-checkpoint.ts';
import { makeTestCache } from '../fixtures/test-cache.ts';
import { refusalOf } from '../support/refusal-of.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-broken-'));
const cli = new CommandLine();
const cache = makeTestCache(join(root, 'cache'));
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
  cli.close();
});

const places = brokenCheckpoints.map((broken, index) => {
  const recipe: RecipeName = broken.recipe ?? 'llama-untied';
  return { ...broken, recipe, folder: join(root, `broken-${index}`), title: `${recipe}: ${broken.name}` };
});
type Place = (typeof places)[number];

beforeAll(async () => {
  for (const { folder, ...broken } of places) await writeBrokenCheckpoint(folder, broken);
});

function constraintsFor(place: Place): string {
  const file = `${place.folder}.yaml`;
  return writeConstraintFile(file, { name: 'broken', model: { path: place.folder } });
}

describe('a broken checkpoint', () => {
  it.each(places)('is refused by `metainfer generate`, by name: $title', async (place) => {
    const { exitCode, message } = await refusalOf(
      ['generate', constraintsFor(place), '-o', join(root, 'engine')],
      cache,
    );
    expect(exitCode).toBe(2);
    for (const mention of place.mentions) expect(message).toContain(mention);
    expect(message).not.toMatch(/\n\s+at /);
  });

  it.each(places.filter((_, index) => index % 17 === 3))(
    'ends the program with code 2 and the same message: $title',
    async (place) => {
      const { code, stderr } = await cli.run(['generate', constraintsFor(place), '-o', join(root, 'engine')]);
      expect(code).toBe(2);
      for (const mention of place.mentions) expect(stderr).toContain(mention);
    },
  );
});

/**
 * What is no fact of the weights, so that the engine leaves it alone: a tokenizer.json (this engine has no text) and
 * the ends of a text (checkpoint.config says so: config.h has them from both files).
 */
function isAboutText({ mentions }: BrokenCheckpoint): boolean {
  return mentions.includes('tokenizer') || mentions.includes('eos_token_id');
}

/** Where one fault shows as two, the engine may meet the other first, or name the file that says so. */
const otherWords: Readonly<Record<string, string>> = {
  'a tensor too many': 'model.norm.weight is missing',
  'an index that names an unknown shard': 'model.safetensors.index.json: model-00003-of-00003.safetensors',
  'an index without one of the tensors': 'model.safetensors.index.json: model-00003-of-00003.safetensors',
  'an index that is not JSON': 'model.safetensors.index.json: invalid JSON',
  'shards in each other\u2019s place': 'lacks tensor model.embed_tokens.weight',
};

const used = [...new Set(places.map((place) => place.recipe))];

describe.each(used)('the engine made for %s', (recipe) => {
  let engine: BuiltEngine | undefined;
  let process: EngineClient | undefined;
  const sound = join(root, `sound-${recipe}`);
  const own = places.filter((place) => place.recipe === recipe && !isAboutText(place));

  beforeAll(async () => {
    await writeRandomCheckpoint(sound, recipe);
    engine = await buildEngine(join(root, 'engines'), { name: recipe, model: { path: sound } });
    process = engine.start([sound, ...own.map((place) => place.folder)]);
  });
  afterAll(async () => {
    await process?.quit();
  });

  it('loads its own checkpoint', async () => {
    expect((await process!.load(sound)).tensors.length).toBeGreaterThan(20);
  });

  it.each(own)('refuses it by name and stays up: $name', async (place) => {
    const failure: unknown = await process!.load(place.folder).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'refused' });
    const { message } = failure as Error;
    const names = otherWords[place.name] ?? [...place.mentions, place.name.split(' ')[0]!];
    expect(
      [names].flat().some((name) => message.includes(name)),
      message,
    ).toBe(true);
    expect(await process!.hello()).toMatchObject({ protocol: 1 });
  });

  it('loads its own checkpoint again after all that', async () => {
    expect((await process!.load(sound)).tensors.length).toBeGreaterThan(20);
    expect((await process!.logits([1, 2, 3]))[2]!.every(Number.isFinite)).toBe(true);
  });
});
