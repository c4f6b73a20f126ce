import { describe, expect, it } from 'vitest';
import {
  renderFixBudget,
  renderFixClosed,
  renderFixElsewhere,
  renderFixKnowledge,
  renderFixNoModel,
  renderFixNotByAgents,
  renderFixUnderWay,
  renderFixWhere,
} from '../../src/delivery/fix-texts.ts';
import { renderPullBody } from '../../src/delivery/render-pull.ts';
import { renderReview } from '../../src/delivery/render-review.ts';
import { renderIssueStatus } from '../../src/delivery/render-status.ts';
import { renderTerminalComment } from '../../src/delivery/render-terminal.ts';
import type { AgentWork, RepairFinding } from '../../src/model/agent-work.ts';
import type { RunFailure, RunState } from '../../src/model/run.ts';
import { stopFailure } from '../../src/pipeline/failures.ts';
import {
  failedReport,
  sampleFinding,
  samplePlan,
  sampleReport,
  sampleStates,
  sampleView,
} from './sample-run.ts';

const finding: RepairFinding = {
  ...{ contract: 'norm.rms', source: 'review', file: 'norm_rms.cpp', line: 9 },
  message: 'eps stands outside of the root, says @octocat <img src=x>',
  ...{ expected: null, got: null, clause: 'invariant:eps-inside' },
};

function workOf(changes: Partial<AgentWork> = {}): AgentWork {
  const entry = (contract: string, phase: string, status: 'open' | 'accepted' | 'failed', attempts = 1) => ({
    ...{ contract, phase, status, attempts, totalAttempts: attempts, findings: [], objections: [] },
    fileSha256: status === 'open' ? null : 'a'.repeat(64),
  });
  return {
    contracts: [
      entry('format.json', 'foundations', 'accepted'),
      entry('text.bpe', 'text', 'accepted', 2),
      entry('norm.rms', 'operations', 'open', 0),
    ],
    ...{ publishedPhases: ['foundations', 'text'], round: 1, optimizations: 0, stop: null },
    limits: {
      ...{ attemptsPerContract: 3, rounds: 2, optimizations: 0 },
      spending: { softTokens: 1_600_000, hardTokens: 2_000_000, softUsd: null, hardUsd: null },
    },
    spent: {
      ...{ calls: 6, promptTokens: 60_000, cachedTokens: 20_000, completionTokens: 24_120 },
      ...{ unreportedTokens: 0, usd: 1.234 },
    },
    ...changes,
  };
}

const done = workOf({
  contracts: workOf().contracts.map((entry) => ({ ...entry, status: 'accepted', fileSha256: 'b' })),
});
const withAgents = (state: Omit<RunState, 'agents'>, agents: AgentWork): RunState => ({ ...state, agents });
const endWith = (failure: RunFailure, agents: AgentWork): RunState => ({
  ...sampleStates.failed,
  ...{ agents, failure },
});

describe('what people read while a model writes', () => {
  it('is how many contracts are done, what they cost so far, and which one is at hand', () => {
    const body = renderIssueStatus(sampleView(withAgents(sampleStates.generating, workOf())));
    expect(body).toContain(
      '⏳ Writing the engine: 2 of 3 contracts, 3 attempts, 84,120 of 2,000,000 tokens; now `norm.rms` (operations)',
    );
    expect(body).toContain('model: 84,120 of 2,000,000 tokens');
  });

  it('names what is repaired after a verdict', () => {
    const repairing = { ...sampleStates.generating, attempt: 1, github: sampleStates.onRunner.github };
    const body = renderIssueStatus(sampleView(withAgents(repairing, workOf())));
    expect(body).toMatch(/^### ⏳ qwen3-0-6b: repairing norm\.rms$/m);
  });

  it('is a pull request that says it is not complete, and what an incomplete one was left for', () => {
    const published = { ...sampleStates.generating, github: sampleStates.onRunner.github };
    const body = (work: AgentWork) =>
      renderPullBody(sampleView(withAgents(published, work)), { closes: false });
    expect(body(workOf())).toContain('**Not complete yet**: a model is writing what knowledge does not hold');
    const stop = { reason: 'attempts', contract: 'norm.rms', message: 'x' };
    expect(body(workOf({ stop }))).toContain('**Incomplete**');
    expect(body(done)).toContain('This stays a draft until a self-hosted runner has built it');
  });
});

describe('a plan that costs more than the repository spends without asking', () => {
  it('says how much, how much at most, whose limit it is, and what to do', () => {
    const plan = {
      ...samplePlan,
      cost: {
        ...{ modelTokens: 572_920, usd: 1.3, limitTokens: 2_000_000 },
        contracts: [
          { contract: 'norm.rms', phase: 'operations', promptTokens: 1, outputTokens: 1, basis: '' },
        ],
      },
    };
    const state = withAgents(sampleStates.approval, workOf());
    const body = renderIssueStatus(sampleView(state, { plan, autoApproveTokens: 300_000 }));
    expect(body).toContain(
      'because a model has to write 1 contract: about 572,920 tokens ($1.30), and never more than 2,000,000. This repository spends up to 300,000 without asking (`generation.auto_approve_tokens` in `.github/metainfer.yml`).',
    );
    expect(body).toContain('comment `/metainfer generate`');
  });
});

describe('the end of a run with a model', () => {
  it('has the total, and the way to every prompt; for a private repository the operator has that', () => {
    const passed = sampleView(withAgents(sampleStates.passed, done), { report: sampleReport });
    const total = 'A model wrote 3 contracts in 3 attempts: 84,120 of 2,000,000 tokens, $1.23.';
    for (const text of [
      renderTerminalComment(passed)!,
      renderIssueStatus(passed),
      renderReview(passed, []).body,
    ])
      expect(text).toContain(
        `${total} [Every prompt and answer](https://bot.example/runs/7/transcript) is kept.`,
      );
    const { repository } = passed.run;
    const hidden = {
      ...passed,
      run: { ...passed.run, repository: { ...repository, isPrivate: true } },
    };
    expect(renderTerminalComment(hidden)).toContain('the operator of this app can see them');
    expect(renderTerminalComment(hidden)).not.toContain('/transcript');
  });

  it('shows the objections of the reviewer as text, nobody mentioned', () => {
    const contracts = done.contracts.map((entry) => ({ ...entry, objections: [finding] }));
    const passed = withAgents(sampleStates.passed, { ...done, contracts });
    const body = renderTerminalComment(sampleView(passed, { report: sampleReport }))!;
    expect(body).toContain('3 objections of the reviewing model that no gate confirms');
    expect(body).toContain('`norm.rms` `norm_rms.cpp:9`: eps stands outside of the root');
    expect(body).not.toMatch(/@octocat|<img/);
  });

  it('names the contract that never came right, the findings, and what a person can do', () => {
    const stop = {
      reason: 'attempts',
      contract: 'norm.rms',
      message: 'norm.rms was not right after 3 attempts.',
    };
    const contracts = workOf().contracts.map((entry) =>
      entry.contract === 'norm.rms'
        ? { ...entry, status: 'failed' as const, totalAttempts: 3, findings: [finding] }
        : entry,
    );
    const agents = workOf({ contracts, stop });
    const state = endWith(stopFailure(withAgents(sampleStates.generating, agents)), agents);
    // A report of an earlier round says nothing about this end.
    const view = sampleView(state, { report: failedReport([sampleFinding]) });
    for (const body of [renderTerminalComment(view)!, renderIssueStatus(view)]) {
      expect(body).toContain('was stopped: the model did not get norm.rms right');
      expect(body).toContain('norm.rms was not right after 3 attempts.');
      expect(body).toContain('eps stands outside of the root');
      expect(body).toContain('`/metainfer fix <what is wrong>` on a line of it');
      expect(body).toContain('6 attempts: 84,120 of 2,000,000 tokens');
      expect(body).not.toContain(sampleFinding.message);
    }
  });

  it('says whose limit of tokens it was', () => {
    const failure = { step: 'generate', code: 'BUDGET_EXHAUSTED', message: 'No room.', next: '' } as const;
    const own = renderTerminalComment(sampleView(endWith(failure, workOf())))!;
    expect(own).toContain('was stopped: the tokens that it may use are used up');
    expect(own).toContain('`generation.tokens_per_run` in `.github/metainfer.yml`');
    const constraints = {
      ...sampleStates.failed.constraints!,
      generation: { ...sampleStates.failed.constraints!.generation, budget: { tokens: 2_000_000 } },
    };
    const asked = renderTerminalComment(
      sampleView({ ...endWith(failure, workOf()), constraints } as RunState),
    )!;
    expect(asked).toContain('Raise `generation.budget.tokens` in the constraint file');
  });

  it('tells a finding in a file of a model how to have it corrected', () => {
    const failure = { step: 'diagnose', code: 'VERDICT_FAILED', message: 'x', next: 'y' } as const;
    const verification = {
      passed: false,
      treeSha256: 'x',
      reportPath: '',
      guilty: ['norm.rms'],
      findings: [],
    };
    const view = sampleView(
      { ...endWith(failure, done), verification },
      { report: failedReport([sampleFinding]) },
    );
    const review = renderReview(view, []);
    expect(review.body).toContain(
      'The findings point at `norm.rms`, which a model wrote; its attempts are used up.',
    );
    expect(renderTerminalComment(view)).toContain('`/metainfer fix <what is wrong>`');
  });
});

describe('answers to /metainfer fix', () => {
  it('are short, say what to do, and hold no command that could start', () => {
    const texts = [
      renderFixElsewhere(13),
      renderFixElsewhere(null),
      renderFixNotByAgents(),
      renderFixKnowledge('norm_rms.h'),
      renderFixWhere(['norm_rms.cpp', 'text_stop.cpp']),
      renderFixWhere([]),
      renderFixWhere(Array.from({ length: 30 }, (_, index) => `file_${index}.cpp`)),
      renderFixUnderWay(7),
      renderFixNoModel(),
      renderFixBudget(2_000_000, 2_000_000),
      renderFixClosed(true),
      renderFixClosed(false),
    ];
    for (const text of texts) {
      expect(text.length).toBeLessThan(600);
      expect(text).not.toMatch(/^\/metainfer/m);
      expect(text).not.toContain('undefined');
    }
    expect(renderFixWhere(['norm_rms.cpp', 'text_stop.cpp'])).toContain(
      '`/metainfer fix norm_rms.cpp the mean leaves out the last column`. A model wrote `norm_rms.cpp` and `text_stop.cpp`.',
    );
    expect(renderFixKnowledge('`<b>@ada')).toMatch(/^`` `<b>@ada `` was not/);
  });
});
