import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../src/adapters/store/store.ts';
import type { DashboardOptions } from '../../src/dashboard/dashboard.ts';
import { type RecordedCall, spendingOf } from '../../src/model/completion-ledger.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { Report } from '../../src/model/report.ts';
import type { RunState } from '../../src/model/run.ts';
import type { Attempt, RunDocuments, RunRecord, TimelineEntry } from '../../src/model/run-record.ts';
import { packageRoot } from '../../src/preparation/package-root.ts';

type SampleStore = DashboardOptions['store'] & Pick<Store, 'counts'>;

/** A run with everything that is kept beside it. */
export interface SampleRun {
  readonly run: RunRecord;
  readonly documents?: Partial<RunDocuments>;
  readonly timeline?: readonly TimelineEntry[];
  readonly attempts?: readonly Attempt[];
  readonly calls?: readonly RecordedCall[];
}

/** A store that holds these runs and nothing else. */
export function storeOf(
  samples: readonly SampleRun[],
  ping: () => Promise<void> = async () => {},
): SampleStore {
  const find = (id: string) => samples.find(({ run }) => run.id === id);
  return {
    listRuns: async ({ limit }) =>
      samples
        .map(({ run }) => run)
        .toSorted((left, right) => right.number - left.number)
        .slice(0, limit),
    findRunByNumber: async (number) => samples.find(({ run }) => run.number === number)?.run,
    readDocument: async (id, name) => find(id)?.documents?.[name],
    readTimeline: async (id) => find(id)?.timeline ?? [],
    readAttempts: async (id) => find(id)?.attempts ?? [],
    completionLedger: ({ id }) => ({
      find: async () => undefined,
      begin: async () => {},
      finish: async () => {},
      spent: async () => spendingOf(find(id)?.calls ?? []),
      leftToday: async () => null,
      list: async () => find(id)?.calls ?? [],
    }),
    ping,
    counts: async () => ({
      runs: { passed: 3, failed: 1 },
      deliveries: { done: 40, ignored: 2, duplicate: 1 },
      queues: { steps: { active: 1, created: 2 }, control: { created: 0 } },
    }),
  };
}

const began = new Date('2026-11-30T07:42:05Z');
export const minutesLater = (minutes: number) => new Date(began.getTime() + minutes * 60_000);
const constraintText = readFileSync(join(packageRoot(), 'knowledge/examples/tiny-qwen3.yaml'), 'utf8');

/** A run that passed, unless `state` says otherwise. */
export function sampleRun(
  number: number,
  changes: Partial<RunRecord> = {},
  state: Partial<RunState> = {},
): RunRecord {
  const id = `01jd${number}`;
  return {
    id,
    number,
    repository: {
      id: 7,
      owner: 'ada',
      name: 'engines',
      isPrivate: false,
      defaultBranch: 'main',
      installationId: 3,
    },
    source: { kind: 'issue', number: 5, path: null, firstLine: 9 },
    requestedBy: { id: 11, login: 'ada', isBot: false },
    state: {
      version: 1,
      id,
      status: 'passed',
      next: null,
      input: { fileName: 'issue #5', text: constraintText, origin: 'github' },
      folder: '',
      attempt: 1,
      github: {
        branch: 'metainfer/5-tiny-qwen3',
        baseBranch: 'main',
        enginePath: 'engines/tiny-qwen3',
        engineCommit: 'c0ffee'.padEnd(40, '0'),
        pullNumber: 6,
        pullNodeId: 'PR_6',
        checkRunId: 90,
        requestId: `${id}-1`,
        workflowRunId: 1234,
      },
      ...state,
    },
    stepFailures: 0,
    notBefore: null,
    isCancelRequested: false,
    supersededBy: null,
    createdAt: began,
    updatedAt: minutesLater(3),
    finishedAt: minutesLater(3),
    ...changes,
  };
}

/** The committed report of a verified and timed engine. */
export function realReport(): Report {
  return JSON.parse(
    readFileSync(join(packageRoot(), 'test/fixtures/reports/tiny-qwen3.json'), 'utf8'),
  ) as Report;
}

/** The pages take a plan from the store to its renderer and look at nothing in it. */
export const opaquePlan = { name: 'tiny-qwen3' } as Plan;
