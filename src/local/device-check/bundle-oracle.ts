import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { referencePath } from '../../preparation/package-root.ts';
import type { PreparedEngine } from '../../preparation/prepare-engine.ts';
import { kindOf, ownerOfTensor } from '../../verification/gates/ledger.ts';
import { drawText, fixedTexts } from '../../verification/gates/text-samples.ts';
import { argmax } from '../../verification/measures.ts';
import { type Oracle, openOracle } from '../../verification/oracle.ts';
import { writePerturbedCopy } from '../../verification/perturbed-copy.ts';
import { Random } from '../../verification/random.ts';
import { indexCheckpoint } from '../../verification/safetensors.ts';
import type { CheckedEngine, EngineConstants, LedgerProbe } from './bundle-manifest.ts';

const greedyTokens = 12;
const greedyPrompts = 3;
/** Between the oracle's first and second choice: far more than an engine may be off by. */
const clearMargin = 0.02;
const drawnTexts = 60;

function bytesOf(rows: readonly Float64Array[]): Buffer {
  return Buffer.concat(rows.map((row) => Buffer.from(row.buffer, row.byteOffset, row.byteLength)));
}

/** Logits and states of one drawn sequence, and greedy continuations, computed here in float64. */
export async function writeOracle(
  bundle: string,
  { request }: PreparedEngine,
  options: { readonly constants: EngineConstants; readonly seed: number; readonly tokens: number },
): Promise<CheckedEngine['oracle']> {
  const { facts, folder } = request.model;
  const { weights } = request.constraints.numerics;
  const weightFormat = weights === 'bf16' || weights === 'f16' ? weights : 'f32';
  const oracle = openOracle(folder!, { facts, weightFormat });
  try {
    const random = new Random(options.seed, 'device-check/oracle');
    const ids = random.ids(Math.min(options.tokens, options.constants.maxContext), facts.vocabSize);
    const { logits, stages } = await oracle.run(ids);
    const traceLength = Math.min(ids.length, options.constants.maxRows);
    const trace = stages.map((state) => state.subarray(0, traceLength * facts.hiddenSize));
    mkdirSync(join(bundle, 'oracle'), { recursive: true });
    const files = { logits: 'oracle/logits.f64', trace: 'oracle/trace.f64' };
    writeFileSync(join(bundle, files.logits), bytesOf(logits));
    writeFileSync(join(bundle, files.trace), bytesOf(trace));
    const greedy = [];
    while (greedy.length < greedyPrompts) {
      const drawn = await continueGreedily(oracle, random.ids(4 + random.below(9), facts.vocabSize));
      if (drawn !== undefined) greedy.push(drawn);
    }
    return { ids, ...files, traceLength, greedy };
  } finally {
    await oracle.close();
  }
}

/** Undefined where two tokens are too close to call. */
async function continueGreedily(oracle: Oracle, prompt: readonly number[]) {
  const ids: number[] = [];
  while (ids.length < greedyTokens) {
    const { logits } = await oracle.run([...prompt, ...ids]);
    const last = logits.at(-1)!;
    const best = argmax(last);
    const others = last.filter((_, token) => token !== best);
    if (last[best]! - others[argmax(others)]! < clearMargin) return undefined;
    ids.push(best);
  }
  return { prompt, ids };
}

/** For one tensor of each kind: the bytes that src/verification/perturbed-copy.ts would change. */
export function makeLedger(folder: string, seed: number, vocabSize: number): CheckedEngine['ledger'] {
  const random = new Random(seed, 'device-check/ledger');
  const ids = random.ids(6, vocabSize);
  const { tensors } = indexCheckpoint(folder);
  const kinds = new Map<string, string[]>();
  for (const name of tensors.keys()) kinds.set(kindOf(name), [...(kinds.get(kindOf(name)) ?? []), name]);
  const scratch = mkdtempSync(join(tmpdir(), 'metainfer-ledger-'));
  try {
    const probes = [...kinds.values()].map((names): LedgerProbe => {
      const tensor = random.pick(names);
      const copy = join(scratch, tensor);
      writePerturbedCopy(folder, tensor, ids, copy);
      const file = basename(tensors.get(tensor)!.path);
      const patches = patchesBetween(readFileSync(join(folder, file)), readFileSync(join(copy, file)));
      rmSync(copy, { recursive: true });
      return { tensor, contract: ownerOfTensor(tensor), file, patches };
    });
    return { ids, probes };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Runs of changed bytes; those less than 64 bytes apart are one run. */
function patchesBetween(before: Buffer, after: Buffer): LedgerProbe['patches'] {
  const runs: { first: number; last: number }[] = [];
  for (let at = 0; at < before.length; at++) {
    if (before[at] === after[at]) continue;
    const run = runs.at(-1);
    if (run !== undefined && at - run.last < 64) run.last = at;
    else runs.push({ first: at, last: at });
  }
  return runs.map(({ first, last }) => ({
    offset: first,
    hex: after.subarray(first, last + 1).toString('hex'),
  }));
}

interface Tokenizer {
  encode(text: string, flags: { addSpecial: boolean; parseSpecial: boolean }): number[];
}

/** Texts and their ids by the reference tokenizer; none where the engine has no tokenizer. */
export async function makeTexts(
  { request }: PreparedEngine,
  folder: string,
  seed: number,
): Promise<CheckedEngine['texts']> {
  if (request.model.tokenizer.model === 'none') return [];
  const json = JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8')) as {
    added_tokens?: readonly { content: string }[];
  };
  const reference = (await import(pathToFileURL(referencePath('text-tokenizer')).href)) as {
    loadReferenceTokenizer(json: unknown): Tokenizer;
  };
  const tokenizer = reference.loadReferenceTokenizer(json);
  const random = new Random(seed, 'device-check/texts');
  const specials = (json.added_tokens ?? []).map(({ content }) => content);
  const drawn = Array.from({ length: drawnTexts }, () => drawText(random, specials));
  return [...fixedTexts, ...drawn].map((text, index) => {
    const flags = { addSpecial: index % 2 === 0, parseSpecial: index % 3 !== 0 };
    return { text, ...flags, ids: tokenizer.encode(text, flags) };
  });
}
