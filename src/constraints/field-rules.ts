import type { Platform } from '../model/catalog.ts';
import type { Problem } from '../model/problem.ts';
import type { Goal } from './goal.ts';
import { checkHardware } from './hardware-rules.ts';
import type { PartialConstraints } from './partial-constraints.ts';
import type { Locate } from './problem-list.ts';

type Fault = Pick<Problem, 'code' | 'path' | 'message'> & {
  readonly severity?: 'warning';
  readonly suggestion?: string;
};
export interface FieldContext {
  readonly origin: 'command-line' | 'github';
  /** With their tables of devices. */
  readonly catalogPlatforms: readonly Pick<Platform, 'id' | 'gpu'>[];
}
type Rule = (constraints: PartialConstraints, context: FieldContext) => readonly Fault[];

/** Rules between fields that need no model: each one is silent where a field it needs is missing or wrong. */
export function checkFieldRules(
  constraints: PartialConstraints,
  locate: Locate,
  context: FieldContext,
): Problem[] {
  return rules.flatMap((rule) =>
    rule(constraints, context).map(
      (fault) => ({ severity: 'error', ...locate(fault.path ?? ''), ...fault }) as const,
    ),
  );
}

const rules: readonly Rule[] = [
  (constraints, { catalogPlatforms }) => checkHardware(constraints, catalogPlatforms),
  contextHoldsWorkload,
  batchHoldsConcurrency,
  blockSize,
  weightsSource,
  ranksNeedDevices,
  goalPairs,
  sourceFiles,
];

function contextHoldsWorkload({ serving, workload }: PartialConstraints): Fault[] {
  const [prompt, output, context] = [workload?.prompt_tokens, workload?.output_tokens, serving?.max_context];
  if (prompt === undefined || output === undefined || context === undefined || prompt + output <= context)
    return [];
  const message = `${prompt} prompt tokens + ${output} output tokens = ${prompt + output}; expected at most serving.max_context, ${context}.`;
  return [{ code: 'workload-too-long', path: 'workload.prompt_tokens', message }];
}

function batchHoldsConcurrency({ serving, workload }: PartialConstraints): Fault[] {
  const [concurrency, batch] = [workload?.concurrency, serving?.max_batch];
  if (concurrency === undefined || batch === undefined || concurrency <= batch) return [];
  const message = `${concurrency} requests at the same time; expected at most serving.max_batch, ${batch}.`;
  return [{ code: 'concurrency-over-batch', path: 'workload.concurrency', message }];
}

function blockSize({ serving }: PartialConstraints): Fault[] {
  if (serving?.block_size === undefined || serving.kv === 'paged') return [];
  const message = 'block_size belongs to kv: paged; expected no block_size with kv: contiguous.';
  return [{ code: 'block-size-unused', path: 'serving.block_size', message, suggestion: 'Remove it.' }];
}

function weightsSource({ model, weights }: PartialConstraints): Fault[] {
  if (weights?.source === undefined || model === undefined) return [];
  if (weights.source === 'synthetic') {
    const seed = 'seed' in weights ? weights.seed : undefined;
    const missing = {
      code: 'missing-key',
      path: 'weights.seed',
      message: 'weights.seed is missing; expected a whole number such as 7 with source: synthetic.',
    };
    const path = {
      code: 'weights-and-path',
      path: 'weights.source',
      message: 'model.path brings its own weights; expected source: checkpoint.',
    };
    return [...(seed === undefined ? [missing] : []), ...('path' in model ? [path] : [])];
  }
  if ('seed' in weights)
    return [
      {
        code: 'seed-unused',
        path: 'weights.seed',
        message: 'a seed belongs to source: synthetic; a checkpoint has weights of its own.',
      },
    ];
  if (!('config' in model)) return [];
  const message =
    'an inline config.json names no checkpoint to load; expected source: synthetic with a seed, or a model id.';
  return [{ code: 'checkpoint-without-id', path: 'weights.source', message }];
}

function ranksNeedDevices({ parallelism, hardware }: PartialConstraints): Fault[] {
  const [ranks, devices] = [parallelism?.tensor, hardware?.devices];
  if (ranks === undefined || devices === undefined || devices === 1 || ranks <= devices) return [];
  const message = `${ranks} ranks; expected at most one per device, and hardware.devices is ${devices}.`;
  return [{ code: 'ranks-over-devices', path: 'parallelism.tensor', message }];
}

const percentiles = ['p50', 'p90', 'p95', 'p99'] as const;

/** A bound on a high percentile that is tighter than one below it makes the lower one useless. */
function goalPairs({ goals }: PartialConstraints): Fault[] {
  const require = goals?.require ?? [];
  return require.flatMap((low) =>
    require.flatMap((high) => (contradicts(low, high) ? [pairFault(low, high)] : [])),
  );
}

function contradicts(low: Goal, high: Goal): boolean {
  const rank = (goal: Goal) => percentiles.findIndex((percentile) => goal.metric.endsWith(`_${percentile}`));
  const base = (goal: Goal) => goal.metric.replace(/_p\d\d$/, '');
  const isPair = rank(low) >= 0 && rank(low) < rank(high) && base(low) === base(high);
  return isPair && low.baseline === high.baseline && high.value < low.value;
}

function pairFault(low: Goal, high: Goal): Fault {
  const message = `${high.metric} ${high.comparison} ${high.value} already implies ${low.metric} ${high.comparison} ${high.value}, so its bound of ${low.value} decides nothing; a higher percentile is never below a lower one.`;
  return {
    severity: 'warning',
    code: 'goals-contradict',
    path: `goals.require.${high.metric}`,
    message,
    suggestion: 'Are the two bounds swapped?',
  };
}

/** Agents see source files in one mode only, and only on the machine of the person who named them. */
function sourceFiles({ generation }: PartialConstraints, { origin }: FieldContext): Fault[] {
  const { mode, source_files: files } = generation ?? {};
  if (mode === 'source-reference' && origin === 'github') {
    const message =
      'source-reference shows files of this machine to the agents, and a file that comes through GitHub cannot name any; expected knowledge-first or zero-reference.';
    const suggestion = 'Use `metainfer build` on the command line for source-reference.';
    return [{ code: 'mode-not-allowed', path: 'generation.mode', message, suggestion }];
  }
  const path = 'generation.source_files';
  if (mode === 'source-reference' && files === undefined) {
    const message = `${path} is missing; expected a list of paths of source files with mode: source-reference.`;
    return [{ code: 'missing-key', path, message }];
  }
  if (mode === 'source-reference' || files === undefined) return [];
  const message = `source files belong to mode: source-reference; expected no source_files with mode: ${mode ?? 'knowledge-first'}.`;
  return [{ code: 'source-files-unused', path, message, suggestion: 'Remove them, or change the mode.' }];
}
