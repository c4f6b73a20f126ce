import { createHash } from 'node:crypto';
import { Constraints } from '../../src/model/constraints.ts';
import type { ModelFacts } from '../../src/model/model-facts.ts';
import { EngineFailure } from '../../src/verification/engine-channel.ts';
import type {
  EngineSession,
  EngineUnderTest,
  GateContext,
  OracleRun,
} from '../../src/verification/gate-context.ts';
import { penalise, ranked } from '../../src/verification/gates/sampling-rules.ts';
import { argmax } from '../../src/verification/measures.ts';
import type { GenerateRequest } from '../../src/verification/protocol-client.ts';

export const fakeFacts: ModelFacts = {
  family: 'llama',
  hiddenSize: 6,
  numLayers: 2,
  numHeads: 2,
  numKvHeads: 1,
  headDim: 4,
  intermediateSize: 8,
  vocabSize: 13,
  tiedHead: true,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: { kind: 'none' },
  maxPositions: 64,
  qkvBias: false,
  qkNorm: false,
  layerWindows: [0, 5],
  bosTokenId: null,
  eosTokenIds: [3],
};

/** Ways in which the fake engine can be wrong; each test turns on one. */
export interface Faults {
  /** Changes row t of every teacher-forced answer. */
  readonly row?: (row: Float32Array, position: number, ids: readonly number[]) => void;
  readonly stage?: (state: Float32Array, stage: number) => void;
  readonly forgetsPoison?: boolean;
  readonly acceptsAnything?: boolean;
  readonly decodeShift?: boolean;
  readonly batchShift?: boolean;
  readonly ignoresSeed?: boolean;
  readonly ignoresFilters?: boolean;
  readonly ignoresEos?: boolean;
  readonly dependsOnProcess?: boolean;
}

function digest(label: string, ids: readonly number[]): Buffer {
  return createHash('sha512').update(`${label}:${ids.join()}`).digest();
}

/** `count` numbers in [-2, 2) that depend on the label and the ids only. */
function numbers(label: string, ids: readonly number[], count: number): Float64Array {
  const out = new Float64Array(count);
  for (let at = 0; at < count; at += 32) {
    const bytes = digest(`${label}${at}`, ids);
    for (let index = at; index < Math.min(count, at + 32); index++) {
      out[index] = (bytes.readUInt16LE(2 * (index - at)) / 65536) * 4 - 2;
    }
  }
  return out;
}

/** What is right: a function of all ids up to a position, so that any mixed-up context shows. */
export function fakeOracle(ids: readonly number[]): Promise<OracleRun> {
  const prefixes = ids.map((_, position) => ids.slice(0, position + 1));
  const stages = Array.from({ length: 2 * fakeFacts.numLayers + 2 }, (_, stage) =>
    Float64Array.from(
      prefixes.flatMap((prefix) => [...numbers(`stage${stage}`, prefix, fakeFacts.hiddenSize)]),
    ),
  );
  return Promise.resolve({
    stages,
    logits: prefixes.map((prefix) => numbers('logits', prefix, fakeFacts.vocabSize)),
  });
}

let processes = 0;

/** An engine in this process: answers right except where its faults say otherwise. */
export class FakeSession
  implements
    Pick<
      EngineSession,
      'logits' | 'trace' | 'batch' | 'prefill' | 'decode' | 'batchDecode' | 'poison' | 'generate' | 'quit'
    >
{
  private readonly faults: Faults;
  private readonly slots = new Map<number, number[]>();
  private poisoned = false;
  private readonly process = processes++;

  constructor(faults: Faults) {
    this.faults = faults;
  }

  private check(ids: readonly number[], slot = 0): void {
    if (this.faults.acceptsAnything === true) return;
    const refuse = (why: string) => {
      throw new EngineFailure('refused', 'logits', why);
    };
    if (ids.length === 0) refuse('no ids');
    if (ids.length > 40) refuse('too long');
    if (ids.some((id) => id >= fakeFacts.vocabSize)) refuse('id out of range');
    if (slot >= 2) refuse('no such slot');
  }

  private rowsOf(ids: readonly number[]): Float32Array[] {
    return ids.map((_, position) => {
      const prefix = ids.slice(0, position + 1);
      const row = Float32Array.from(numbers('logits', prefix, fakeFacts.vocabSize));
      this.faults.row?.(row, position, ids);
      if (this.faults.dependsOnProcess === true) row[0] = row[0]! + this.process * 1e-6;
      if (this.poisoned && this.faults.forgetsPoison === true) row.fill(Number.NaN);
      return row;
    });
  }

  async logits(ids: readonly number[], chunks: readonly number[] = [ids.length]): Promise<Float32Array[]> {
    this.check(ids);
    if (chunks.reduce((a, b) => a + b, 0) !== ids.length && this.faults.acceptsAnything !== true) {
      throw new EngineFailure('refused', 'logits', 'chunks do not add up');
    }
    return this.rowsOf(ids);
  }

  async trace(ids: readonly number[]): Promise<Float32Array[]> {
    const { stages } = await fakeOracle(ids);
    return stages.map((state, stage) => {
      const values = Float32Array.from(state);
      this.faults.stage?.(values, stage);
      return values;
    });
  }

  async batch(sequences: readonly (readonly number[])[]): Promise<Float32Array[][]> {
    if (sequences.length > 2 && this.faults.acceptsAnything !== true)
      throw new EngineFailure('refused', 'batch', 'too many');
    return sequences.map((ids, index) => {
      const rows = this.rowsOf(ids);
      if (this.faults.batchShift === true && index > 0) rows[0]![0]! += 0.5;
      return rows;
    });
  }

  async prefill(slot: number, ids: readonly number[]) {
    this.check(ids, slot);
    this.slots.set(slot, [...ids]);
    const logits = this.rowsOf(ids).at(-1) ?? new Float32Array(fakeFacts.vocabSize);
    return { sentAt: 0, receivedAt: 1, argmax: argmax(logits), logits };
  }

  async decode(slot: number, firstToken: number, steps: number) {
    const ids = this.slots.get(slot) ?? [];
    if (ids.length + steps > 40 && this.faults.acceptsAnything !== true)
      throw new EngineFailure('refused', 'decode', 'full');
    let token = firstToken;
    let logits: Float32Array = new Float32Array(fakeFacts.vocabSize);
    const chosen: number[] = [];
    for (let step = 0; step < Math.min(steps, 64); step++) {
      ids.push(token);
      logits = this.rowsOf(ids).at(-1)!;
      if (this.faults.decodeShift === true) logits[1]! += 1;
      token = argmax(logits);
      chosen.push(token);
    }
    return { sentAt: 0, receivedAt: 1, argmax: chosen, stepTimes: chosen.map(() => 1), logits };
  }

  async batchDecode(firstTokens: readonly number[], steps: number) {
    const all: { argmax: number[]; logits: Float32Array }[] = [];
    for (const [slot, token] of firstTokens.entries()) all.push(await this.decode(slot, token, steps));
    const argmaxes = Array.from({ length: steps }, (_, step) => all.map((one) => one.argmax[step]!));
    return {
      sentAt: 0,
      receivedAt: 1,
      argmax: argmaxes,
      stepTimes: argmaxes.map(() => 1),
      logits: all.map((one) => one.logits),
    };
  }

  async poison(): Promise<void> {
    this.poisoned = true;
  }

  async generate(request: GenerateRequest) {
    const prompt = request.prompt_ids ?? [];
    const ids: number[] = [];
    let reason: 'length' | 'eos' = 'length';
    while (ids.length < request.max_tokens && reason === 'length') {
      const token = this.sample(
        this.rowsOf([...prompt, ...ids]).at(-1)!,
        [...prompt, ...ids],
        request,
        ids.length,
      );
      ids.push(token);
      const isEnd = fakeFacts.eosTokenIds.includes(token) && this.faults.ignoresEos !== true;
      if (isEnd && request.ignore_eos !== true) reason = 'eos';
    }
    return { sentAt: 0, receivedAt: 1, finish_reason: reason, ids, text: '', chunks: [] };
  }

  private sample(raw: Float32Array, seen: readonly number[], request: GenerateRequest, step: number): number {
    const logits = penalise(raw, seen, request.repetition_penalty ?? 1);
    const temperature = request.temperature ?? 0;
    if (temperature === 0) return argmax(logits);
    const order = ranked(logits);
    let kept = order;
    if (this.faults.ignoresFilters !== true) {
      const weights = order.map((id) => Math.exp((logits[id]! - logits[order[0]!]!) / temperature));
      const total = weights.reduce((a, b) => a + b, 0);
      const before = order.map((_, place) => weights.slice(0, place).reduce((a, b) => a + b, 0) / total);
      kept = order.filter(
        (_, place) =>
          place < (request.top_k ?? order.length) &&
          before[place]! < (request.top_p ?? 1) &&
          weights[place]! >= (request.min_p ?? 0),
      );
    }
    const seed = this.faults.ignoresSeed === true ? 0 : (request.seed ?? 0);
    // Hot enough in the gates that a uniform choice among the kept does as well.
    return kept[digest(`draw${seed}/${step}`, []).readUInt32LE(0) % kept.length]!;
  }

  async quit() {
    return { exitCode: 0, peakRssBytes: 0 };
  }
}

const constraints = Constraints.parse({
  apiVersion: 'metainfer/v1',
  name: 'fake',
  model: { config: {} },
  weights: { source: 'checkpoint' },
  hardware: { platform: 'cpu-x86_64', threads: 1, memory: 2 ** 30 },
  numerics: { weights: 'f32' },
  parallelism: {},
  serving: { max_context: 40, max_batch: 2 },
  workload: { prompt_tokens: 8, output_tokens: 8 },
  goals: { require: [], fidelity: { mean_kld: 1e-6, top1_agreement: 0.99 } },
  generation: { budget: {} },
});

export const fakeEngine: EngineUnderTest = {
  name: 'fake',
  folder: '/nonexistent',
  constraints,
  facts: fakeFacts,
  tokenizer: { model: 'none', preTokenizer: 'none', normalizer: 'none' },
  weightFormat: 'f32',
  onDevice: false,
  vectorWidth: 8,
  maxRows: 16,
  contracts: [],
};

/** A gate context whose engines are fake sessions with these faults. */
export function fakeContext(faults: Faults = {}, changes: Partial<GateContext> = {}): GateContext {
  const unused = () => {
    throw new Error('this gate should not need it');
  };
  return {
    engine: fakeEngine,
    checkpointFolder: '/nonexistent',
    runSeed: 7,
    scratchFolder: '/nonexistent',
    toolchain: {
      compiler: '/usr/bin/g++',
      version: 'g++',
      flags: [],
      cacheFolder: '/nonexistent',
      jobs: 1,
      sandbox: { kind: 'none', reason: 'test' },
    },
    binaries: {},
    checkProvenance: async () => [],
    renderConfigHeader: unused,
    oracle: fakeOracle,
    perturb: unused,
    openEngine: async () => new FakeSession(faults) as unknown as EngineSession,
    effort: { oracleTokens: 32, processes: 3, variants: true, sanitize: false },
    ...changes,
  };
}
