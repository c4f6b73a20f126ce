import {
  decode,
  headName,
  toLogits,
  type WeightSource,
} from '../../knowledge/contracts/decoder-model/reference.ts';
import { AppError } from '../model/errors.ts';
import { elementCount } from '../model/expected-tensors.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { countParameters } from '../model/parameter-count.ts';
import { formatProblem } from '../model/problem.ts';
import type { FloatFormat } from './float-formats.ts';
import { checkTensors } from './inspect-checkpoint.ts';
import { workOnJob } from './oracle-job.ts';
import { type OraclePool, startOraclePool } from './oracle-pool.ts';
import { type Checkpoint, openCheckpoint } from './safetensors.ts';

export interface OracleOptions {
  readonly facts: ModelFacts;
  /** Matrices of a checkpoint that holds more than it are rounded to it first; norm gains and biases never are. */
  readonly weightFormat: FloatFormat;
  /** For sequences worth spreading; default 2. */
  readonly threads?: number;
  /** Multiply-adds of one sequence above which threads are started; default a thousand million, about half a second. */
  readonly shareAbove?: number;
}

/** What one teacher-forced sequence gives, from position 0 on. */
export interface OracleRun {
  /** 2·layers + 2 states [ids.length · hidden_size]: the points of the harness protocol's `trace`. */
  readonly stages: readonly Float64Array[];
  /** Row t [vocab_size] = logits after reading ids[0 … t]. */
  readonly logits: readonly Float64Array[];
}

/** The independent reference: the contracts' float64 references composed, over a checkpoint's own bytes. */
export interface Oracle {
  run(ids: ArrayLike<number>): Promise<OracleRun>;
  close(): Promise<void>;
}

/** Throws CHECKPOINT_INVALID where the folder is broken or does not fit the facts. */
export function openOracle(folder: string, options: OracleOptions): Oracle {
  const checkpoint = openCheckpoint(folder);
  const problems = checkTensors(checkpoint.tensors, options.facts);
  if (problems.length > 0) {
    checkpoint.close();
    throw new AppError('CHECKPOINT_INVALID', problems.map(formatProblem).join('\n'));
  }
  let pool: OraclePool | undefined;
  const getPool = () => {
    pool ??= startOraclePool(options.threads ?? 2);
    return pool;
  };
  const { weightFormat } = options;
  return {
    run(ids) {
      const isShared = countParameters(options.facts).matmul * ids.length > (options.shareAbove ?? 1e9);
      return runOracle(
        ids,
        options.facts,
        openWeights(checkpoint, weightFormat, isShared ? getPool : undefined),
      );
    },
    async close() {
      checkpoint.close();
      await pool?.close();
    },
  };
}

async function runOracle(
  ids: ArrayLike<number>,
  facts: ModelFacts,
  source: WeightSource,
): Promise<OracleRun> {
  const wrong = Array.from(ids).find((id) => !(Number.isInteger(id) && id >= 0 && id < facts.vocabSize));
  if (wrong !== undefined) {
    throw new AppError('INTERNAL', `token id ${wrong} is outside the vocabulary of ${facts.vocabSize}.`);
  }
  const stages: Float64Array[] = [];
  const hidden = await decode(ids, facts, source, (stage) => stages.push(stage));
  const [scores] = await source.project([headName(facts)], hidden);
  const logits = toLogits(scores!, facts);
  const row = (index: number) => logits.subarray(index * facts.vocabSize, (index + 1) * facts.vocabSize);
  return { stages, logits: Array.from({ length: ids.length }, (_, index) => row(index)) };
}

function openWeights(
  checkpoint: Checkpoint,
  storedAs: FloatFormat,
  getPool: (() => OraclePool) | undefined,
): WeightSource {
  const placeOf = (name: string) => {
    const place = checkpoint.tensors.get(name);
    if (place === undefined)
      throw new AppError('CHECKPOINT_INVALID', `tensor ${name} is not in ${checkpoint.folder}.`);
    return place;
  };
  const project = async (name: string, x: Float64Array): Promise<Float64Array> => {
    const place = placeOf(name);
    const outputs = place.shape[0]!;
    const rows = x.length / place.shape[1]!;
    const out = allocate(rows * outputs, getPool !== undefined);
    const job = { place, out, storedAs, next: new Int32Array(new SharedArrayBuffer(4)) };
    if (getPool !== undefined) await getPool().run({ ...job, x: share(x) });
    else workOnJob({ ...job, x, id: 0 });
    return out;
  };
  return {
    vector: (name) => checkpoint.read(name, 0, elementCount(placeOf(name).shape), 'f32'),
    pick(name, ids) {
      const width = placeOf(name).shape[1]!;
      const out = new Float64Array(ids.length * width);
      for (let row = 0; row < ids.length; row++)
        out.set(checkpoint.read(name, ids[row]! * width, width, storedAs), row * width);
      return out;
    },
    async project(names, x) {
      const results: Float64Array[] = [];
      for (const name of names) results.push(await project(name, x));
      return results;
    },
  };
}

function allocate(count: number, isShared: boolean): Float64Array {
  return isShared ? new Float64Array(new SharedArrayBuffer(count * 8)) : new Float64Array(count);
}

function share(values: Float64Array): Float64Array {
  const shared = allocate(values.length, true);
  shared.set(values);
  return shared;
}
