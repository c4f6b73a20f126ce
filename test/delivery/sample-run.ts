import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseConstraints } from '../../src/constraints/parse-constraints.ts';
import type { RunView } from '../../src/delivery/run-view.ts';
import type { Finding, Report } from '../../src/model/report.ts';
import type { RunFailure, RunState } from '../../src/model/run.ts';
import type { RunRecord } from '../../src/model/run-record.ts';
import { renderPlan } from '../../src/plan/render-plan.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { composePrepared, prepareEngine } from '../../src/preparation/prepare-engine.ts';
import { readRequest } from '../../src/preparation/read-request.ts';
import { unrunReport } from '../fixtures/unrun-report.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export const sampleText = readFileSync(join(root, 'knowledge/examples/qwen3-0.6b.yaml'), 'utf8');
/** A real report of a real engine, measured beside llama.cpp. */
export const sampleReport = JSON.parse(
  readFileSync(join(root, 'test/fixtures/reports/qwen3-0-6b.json'), 'utf8'),
) as Report;
const catalog = await openKnowledge(join(tmpdir(), 'metainfer-delivery-test'));
const request = await readRequest(sampleText, {
  fileName: 'issue 12',
  origin: 'github',
  weightsRoot: undefined,
  isElsewhere: true,
  catalog,
});
const prepared = prepareEngine(request, catalog);
const { plan, planSha256 } = prepared;
export const sampleEngine = {
  files: composePrepared(prepared).files.map(({ path, text }) => ({ path, text })),
};
export const samplePlan = plan;

const trail: NonNullable<RunState['github']> = {
  branch: 'metainfer/12-qwen3-0-6b',
  baseBranch: 'main',
  enginePath: 'engines/qwen3-0-6b',
  engineCommit: '0123456789abcdef0123456789abcdef01234567',
  pullNumber: 13,
  pullNodeId: 'PR_13',
  checkRunId: 99,
  requestId: 'r7k2m9q4-1',
  workflowRunId: 4711,
};

const queued: RunState = {
  version: 1,
  id: 'r7k2m9q4',
  status: 'running',
  next: 'constraints',
  input: { fileName: 'issue 12', text: sampleText, origin: 'github' },
  folder: '',
  attempt: 0,
};
const planned: RunState = {
  ...queued,
  constraints: request.constraints,
  constraintsSha256: request.sha256,
  planSha256,
};
const onRunner: RunState = {
  ...planned,
  status: 'waiting',
  next: null,
  waitingFor: 'workflow',
  engineTreeSha256: sampleReport.engine.treeSha256,
  attempt: 1,
  github: trail,
};
const { waitingFor: _, ...judged } = onRunner;

/** States of one run, in the order in which a person meets them. */
export const sampleStates = {
  queued,
  planning: { ...queued, next: 'plan' },
  approval: { ...planned, status: 'waiting', next: null, waitingFor: 'approval' },
  generating: { ...planned, next: 'generate' },
  onRunner,
  passed: { ...judged, status: 'passed', next: null },
  failed: { ...judged, status: 'failed', next: null },
  unverified: { ...judged, status: 'unverified', next: null },
  cancelled: { ...judged, status: 'cancelled', next: null },
  superseded: { ...judged, status: 'superseded', next: null },
} as const satisfies Record<string, RunState>;

const started = new Date('2026-11-30T07:00:00Z');

export function sampleRecord(state: RunState, changes: Partial<RunRecord> = {}): RunRecord {
  return {
    id: state.id,
    number: 7,
    repository: {
      id: 1,
      owner: 'acme',
      name: 'models',
      isPrivate: false,
      defaultBranch: 'main',
      installationId: 5,
    },
    source: { kind: 'issue', number: 12, path: null, firstLine: 9 },
    requestedBy: { id: 2, login: 'ada', isBot: false },
    state,
    stepFailures: 0,
    notBefore: null,
    isCancelRequested: false,
    supersededBy: null,
    createdAt: started,
    updatedAt: started,
    finishedAt: null,
    ...changes,
  };
}

/** A view with the real plan, engine and links of the sample run. */
export function sampleView(state: RunState, changes: Partial<RunView> = {}): RunView {
  const isPlanned = state.planSha256 !== undefined;
  const hasPull = state.github !== undefined;
  return {
    run: sampleRecord(state),
    ...(isPlanned ? { plan, planText: renderPlan(plan) } : {}),
    ...(state.engineTreeSha256 === undefined ? {} : { engine: sampleEngine }),
    timeline: [],
    attempts: hasPull
      ? [
          {
            number: 1,
            requestId: 'r7k2m9q4-1',
            workflowRunId: 4711,
            startedAt: started,
            endedAt: state.status === 'waiting' ? null : new Date('2026-11-30T07:03:20Z'),
            outcome: state.status === 'waiting' ? null : state.status,
          },
        ]
      : [],
    links: {
      dashboard: 'https://bot.example/runs/7',
      source: 'https://github.com/acme/models/issues/12',
      pull: hasPull ? 'https://github.com/acme/models/pull/13' : null,
      workflow: hasPull ? 'https://github.com/acme/models/actions/runs/4711' : null,
      plots: state.status === 'passed' ? { speed: 'https://bot.example/runs/7/plots/speed.svg' } : {},
    },
    waitingBehind: null,
    queue: null,
    ...changes,
  };
}

export const sampleFinding: Finding = {
  gate: 'unit',
  contract: 'norm.rms',
  file: 'norm_rms.cpp',
  line: 12,
  message: 'rms_norm differs from its reference in case rows_of_one: NMSE 0.013, allowed 1e-10',
  evidence: { case: 'rows_of_one', nmse: 0.0132, max_abs: 0.41, worst_index: 17 },
};

/** What a runner without a GPU says of a CUDA engine. */
export const sampleUnrun = unrunReport(sampleReport);

/** The sample report as it is when these findings turned their gates red and nothing was timed. */
export function failedReport(findings: readonly Finding[]): Report {
  const isRed = (gate: string) => findings.some((finding) => finding.gate === gate);
  const gates = sampleReport.gates.map((gate) =>
    isRed(gate.gate)
      ? {
          ...gate,
          status: 'failed' as const,
          findings: findings.filter((finding) => finding.gate === gate.gate),
        }
      : gate,
  );
  return { ...sampleReport, verdict: 'failed', gates, benchmark: null };
}

/** The sample run, ended by this failure. */
export function failedState(code: string, message: string, changes: Partial<RunState> = {}): RunState {
  const failure: RunFailure = { step: 'judge', code, message, next: 'Read the findings.' };
  return { ...sampleStates.failed, failure, ...changes };
}

/** Problems of a text as the parser finds them. */
export function problemsOf(text: string): NonNullable<RunView['problems']> {
  const parsed = parseConstraints(text, {
    origin: 'github',
    catalogModels: catalog.models,
    catalogPlatforms: catalog.platforms,
  });
  return { problems: parsed.problems, notCovered: parsed.notCovered.map(({ message }) => message) };
}

/** The view of a run whose constraint file is this text, refused with all its problems. */
export function refusedView(text: string, path: string | null = null): RunView {
  const state: RunState = {
    ...queued,
    status: 'failed',
    next: null,
    input: { fileName: path ?? 'issue 12', text, origin: 'github' },
    failure: {
      step: 'constraints',
      code: 'CONSTRAINTS_INVALID',
      message: 'The constraint file has problems.',
      next: 'Correct them.',
    },
  };
  const source =
    path === null
      ? { kind: 'issue' as const, number: 12, path, firstLine: 9 }
      : { kind: 'pull' as const, number: 14, path, firstLine: 1 };
  return { ...sampleView(state), run: sampleRecord(state, { source }), problems: problemsOf(text) };
}
