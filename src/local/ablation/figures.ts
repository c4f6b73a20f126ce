import type { GenerationRecord } from '../../model/generation-record.ts';
import { tokensOf } from '../../model/spending.ts';
import type { AblationResult } from './ablation-plan.ts';

/** One number that every run has, or has not. */
export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly unit: 's' | 'count' | 'share' | 'usd';
  /** What is counted and what is not, for the reader of a report. */
  readonly meaning: string;
  /** Less of it is a saving: it is compared between modes. */
  readonly isCost: boolean;
  readonly read: (result: AblationResult) => number | null;
}

/** A run in which no agent had a part asked nothing and spent nothing. */
function ofSpent(read: (spent: GenerationRecord['spent']) => number | null): Figure['read'] {
  return ({ record }) => (record === null ? 0 : read(record.spent));
}

/** What only a run with agents has. */
function ofRecord(read: (record: GenerationRecord) => number | null): Figure['read'] {
  return ({ record }) => (record === null || record.spent.calls === 0 ? null : read(record));
}

function average(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function similarityTo(kind: GenerationRecord['similarity'][number]['kind']): Figure['read'] {
  return ofRecord(({ similarity }) =>
    average(similarity.filter((entry) => entry.kind === kind).map(({ share }) => share)),
  );
}

function attemptsPerContract({ attempts }: GenerationRecord): number | null {
  const contracts = new Set(attempts.map(({ contract }) => contract)).size;
  return contracts === 0 ? null : attempts.length / contracts;
}

/** The only figure of a run without a real model. */
export const callsFigure: Figure = {
  key: 'calls',
  title: 'Model calls',
  unit: 'count',
  meaning: 'Requests sent to the endpoint in all roles, also those that broke off or were refused.',
  isCost: true,
  read: ofSpent(({ calls }) => calls),
};

/** Every figure of a run, in the order of the report. Medians and ranges are taken over the repeats of a mode. */
export const figures: readonly Figure[] = [
  {
    key: 'seconds',
    title: 'Wall time',
    unit: 's',
    meaning:
      'From the constraint file to the verdict of all gates but the timed ones: model calls, compilers and gates together; no benchmark. All sittings of an interrupted run.',
    isCost: true,
    read: ({ seconds }) => seconds,
  },
  callsFigure,
  {
    key: 'promptTokens',
    title: 'Prompt tokens',
    unit: 'count',
    meaning: 'As the endpoint reports them, cached ones included.',
    isCost: true,
    read: ofSpent(({ promptTokens }) => promptTokens),
  },
  {
    key: 'cachedTokens',
    title: 'of them cached',
    unit: 'count',
    meaning:
      'Prompt tokens that the endpoint says it took from its cache. No cost of its own: part of the line above.',
    isCost: false,
    read: ofSpent(({ cachedTokens }) => cachedTokens),
  },
  {
    key: 'outputTokens',
    title: 'Output tokens',
    unit: 'count',
    meaning: 'Completion tokens as the endpoint reports them, reasoning included where it counts it.',
    isCost: true,
    read: ofSpent(({ completionTokens }) => completionTokens),
  },
  {
    key: 'unreportedTokens',
    title: 'Tokens without report',
    unit: 'count',
    meaning:
      'Reserved for calls whose usage never came (broken off, or an endpoint that does not say): an upper bound.',
    isCost: false,
    read: ofSpent(({ unreportedTokens }) => unreportedTokens),
  },
  {
    key: 'tokens',
    title: 'Tokens in all',
    unit: 'count',
    meaning: 'Prompt, output and unreported tokens: what counts against the limit.',
    isCost: true,
    read: ofSpent(tokensOf),
  },
  {
    key: 'usd',
    title: 'Cost',
    unit: 'usd',
    meaning: 'At the prices of the settings; empty where a model has none.',
    isCost: true,
    read: ofSpent(({ usd }) => usd),
  },
  {
    key: 'attemptsPerContract',
    title: 'Attempts per contract',
    unit: 'count',
    meaning:
      'Attempts of the implementer over the contracts that it was given, repairs after the whole engine ran included.',
    isCost: true,
    read: ofRecord(attemptsPerContract),
  },
  {
    key: 'firstPass',
    title: 'First-pass rate',
    unit: 'share',
    meaning:
      'Contracts whose first text was accepted and that no gate rejected later, over the contracts that agents wrote.',
    isCost: false,
    read: ofRecord(({ firstPass }) =>
      firstPass === null || firstPass.contracts === 0 ? null : firstPass.accepted / firstPass.contracts,
    ),
  },
  {
    key: 'repairSeconds',
    title: 'Time to a fix',
    unit: 's',
    meaning:
      'Error localisation: from a gate that rejects a contract to the acceptance of its next right text, mean over the repairs of a run. Time of the attempts only; contracts that never came right have none.',
    isCost: true,
    read: ofRecord(({ repairs }) => average(repairs.map(({ seconds }) => seconds))),
  },
  {
    key: 'repairCalls',
    title: 'Calls to a fix',
    unit: 'count',
    meaning: 'The same in model calls.',
    isCost: true,
    read: ofRecord(({ repairs }) => average(repairs.map(({ calls }) => calls))),
  },
  {
    key: 'linesByAgents',
    title: 'Lines by agents',
    unit: 'count',
    meaning:
      'Lines of the files that agents wrote, comments and blank lines included, as they stand in the engine.',
    isCost: false,
    read: ofRecord(({ linesByAgents }) => linesByAgents),
  },
  {
    key: 'realizationShare',
    title: 'Likeness to knowledge',
    unit: 'share',
    meaning:
      "Share of a file's fingerprints (winnowing) that the nearest realization of knowledge has too, mean over the files of agents. What a contract dictates is alike in any text.",
    isCost: false,
    read: similarityTo('realization'),
  },
  {
    key: 'sourceShare',
    title: 'Likeness to the sources',
    unit: 'share',
    meaning: 'The same against the source files that the agents were shown.',
    isCost: false,
    read: similarityTo('source-reference'),
  },
];
