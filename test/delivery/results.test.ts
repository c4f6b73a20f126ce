import { describe, expect, it } from 'vitest';
import { renderCheck } from '../../src/delivery/render-check.ts';
import { renderReview } from '../../src/delivery/render-review.ts';
import { renderIssueStatus, renderPullStatus } from '../../src/delivery/render-status.ts';
import { renderTerminalComment } from '../../src/delivery/render-terminal.ts';
import type { ChangedFile } from '../../src/model/delivery.ts';
import type { Finding, Report } from '../../src/model/report.ts';
import {
  failedReport,
  failedState,
  sampleEngine,
  sampleFinding,
  sampleReport,
  sampleStates,
  sampleView,
} from './sample-run.ts';

const files: ChangedFile[] = sampleEngine.files.map(({ path, text }) => {
  const lines = text.split('\n');
  const patch = [`@@ -0,0 +1,${lines.length} @@`, ...lines.map((line) => `+${line}`)].join('\n');
  return { path: `engines/qwen3-0-6b/${path}`, status: 'added', patch };
});
const compilerError: Finding = {
  gate: 'build',
  contract: 'linear.dense',
  file: 'linear_dense.cpp',
  line: 40,
  message: "expected ';' before '}' token ```\n<img src=x> @octocat closes #1",
  evidence: {},
};
const passed = sampleView(sampleStates.passed, { report: sampleReport });

function failedView(findings: readonly Finding[], guilty: readonly string[] = []) {
  const verification = { passed: false, treeSha256: 'x', reportPath: '', guilty: [...guilty], findings: [] };
  return sampleView(failedState('VERDICT_FAILED', 'Verification failed.', { verification }), {
    report: failedReport(findings),
  });
}

function missedGoal(): Report {
  const goals = sampleReport.goals.map((goal) =>
    goal.metric === 'decode_tokens_per_second'
      ? { ...goal, written: '>= 1x llama.cpp', status: 'missed' as const }
      : goal,
  );
  return { ...sampleReport, goals, verdict: 'failed' };
}

describe('the review of a failing engine', () => {
  it('has each finding on its line, with the compiler error in a fence that it cannot close', () => {
    const review = renderReview(failedView([sampleFinding, compilerError]), files);
    expect(review.comments.map(({ path, line }) => `${path}:${line}`).sort()).toEqual([
      'engines/qwen3-0-6b/linear_dense.cpp:40',
      'engines/qwen3-0-6b/norm_rms.cpp:12',
    ]);
    const compiler = review.comments.find(({ line }) => line === 40)!;
    expect(compiler.body).toContain(
      "````text\nexpected ';' before '}' token ```\n<img src=x> @octocat closes #1\n````",
    );
    expect(review.body).toContain('failed: 2 findings in gates build and unit');
  });

  it('names the figures and the contract', () => {
    const [comment] = renderReview(failedView([sampleFinding]), files).comments;
    expect(comment!.body).toContain('`norm.rms`');
    expect(comment!.body).toContain('| `nmse` | 0.0132 |');
  });

  it('loses no finding, wherever it points', () => {
    const messages = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];
    const places = [
      { file: 'norm_rms.cpp', line: 2 },
      { file: 'norm_rms.cpp', line: 99_999 },
      { file: '../../.github/workflows/x.yml', line: 1 },
      { file: null, line: null },
      { file: 'no_such_file.cpp', line: 3 },
    ];
    const findings = messages.map((message, index) => ({ ...sampleFinding, ...places[index]!, message }));
    const review = renderReview(failedView(findings), files);
    const said = [
      review.body,
      ...review.comments.map(({ body }) => body),
      ...review.fileComments.map(({ body }) => body),
    ];
    for (const message of messages) expect(said.join('\n')).toContain(message);
    expect(said.join('\n')).not.toContain('undefined');
    expect(
      [...review.comments, ...review.fileComments].every(({ path }) =>
        path.startsWith('engines/qwen3-0-6b/'),
      ),
    ).toBe(true);
  });

  it('stays readable with hundreds of findings', () => {
    const findings = Array.from({ length: 500 }, (_, index) => ({
      ...sampleFinding,
      line: 1 + (index % 25),
      message: 'x'.repeat(3900),
    }));
    const review = renderReview(failedView(findings), files);
    expect(review.comments.length).toBeLessThanOrEqual(20);
    expect(review.body.length).toBeLessThanOrEqual(65_000);
    for (const { body } of review.comments) expect(body.length).toBeLessThanOrEqual(20_000);
  });

  it('points at the slow kernel with its figures where only a goal of speed was missed', () => {
    const view = sampleView(failedState('VERDICT_FAILED', 'Too slow.'), { report: missedGoal() });
    const [comment] = renderReview(view, files).comments;
    const source = sampleEngine.files.find(({ path }) => path === 'linear_dense.cpp')!.text.split('\n');
    expect(comment!.path).toBe('engines/qwen3-0-6b/linear_dense.cpp');
    expect(source[comment!.line - 1]).toContain('void linear(');
    expect(comment!.body).toContain('measured 25.8');
    expect(comment!.body).toContain('48 %');
  });
});

describe('the check', () => {
  it('says the verdict in its title and every goal with its figures in its summary', () => {
    const check = renderCheck(passed);
    expect(check).toMatchObject({ status: 'completed', conclusion: 'success' });
    expect(check.title).toBe('Passed: 3 of 3 goals met, 25.8 tokens/s decode (0.88x llama.cpp)');
    expect(check.summary).toContain(
      '| `decode_tokens_per_second` | `>= 0.7x llama.cpp` | 25.8 tokens/s, 0.88x | ± 1.7 % (n = 10) | 48 % | ✅ met |',
    );
    expect(check.actions.map(({ identifier }) => identifier)).toEqual(['retry']);
  });

  it('annotates the files where findings are', () => {
    const check = renderCheck(failedView([sampleFinding, { ...sampleFinding, file: null, line: null }]));
    expect(check.conclusion).toBe('failure');
    expect(check.annotations).toEqual([
      {
        path: 'engines/qwen3-0-6b/norm_rms.cpp',
        startLine: 12,
        endLine: 12,
        level: 'failure',
        title: 'unit · norm.rms',
        message: sampleFinding.message,
      },
    ]);
  });

  it('runs with a Cancel button until there is a verdict', () => {
    const check = renderCheck(sampleView(sampleStates.onRunner));
    expect(check.status).toBe('in_progress');
    expect(check.conclusion).toBeUndefined();
    expect(check.actions.map(({ identifier }) => identifier)).toEqual(['cancel']);
  });

  it('lets nothing but a pass look like one', () => {
    const states = [
      sampleStates.cancelled,
      sampleStates.superseded,
      ...['RUNNER_FAILED', 'REPORT_REJECTED', 'WORKFLOW_MISSING', 'NOT_PERMITTED', 'INTERNAL'].map((code) =>
        failedState(code, 'x'),
      ),
    ];
    for (const state of states)
      expect(['failure', 'cancelled', 'action_required']).toContain(
        renderCheck(sampleView(state)).conclusion,
      );
    const timedOut = failedState('RUNNER_FAILED', 'x');
    const github = { ...timedOut.github!, workflowConclusion: 'timed_out' };
    expect(renderCheck(sampleView({ ...timedOut, github })).conclusion).toBe('timed_out');
  });

  it('keeps within the limits of GitHub in every state', () => {
    const huge = failedView(
      Array.from({ length: 900 }, () => ({ ...sampleFinding, message: '|'.repeat(4000) })),
    );
    const views = [huge, passed, ...Object.values(sampleStates).map((state) => sampleView(state))];
    for (const check of views.map(renderCheck)) {
      expect(check.title.length).toBeLessThanOrEqual(255);
      expect(check.summary).not.toBe('');
      expect(check.summary.length).toBeLessThanOrEqual(65_535);
      expect((check.text ?? '').length).toBeLessThanOrEqual(65_535);
      for (const { label, description, identifier } of check.actions) {
        expect(label.length).toBeLessThanOrEqual(20);
        expect(description.length).toBeLessThanOrEqual(40);
        expect(identifier.length).toBeLessThanOrEqual(20);
      }
    }
  });
});

describe('the sticky comments', () => {
  it('say in every state how it stands and never leave a hole', () => {
    for (const [name, state] of Object.entries(sampleStates)) {
      const report = name === 'passed' ? { report: sampleReport } : {};
      for (const text of [
        renderIssueStatus(sampleView(state, report)),
        renderPullStatus(sampleView(state, report)),
      ]) {
        expect(text).toMatch(/^### \S+ \S/);
        expect(text).not.toMatch(/undefined|null|NaN|\[object/);
        expect(text.length).toBeLessThanOrEqual(65_000);
        expect(text).toContain('[Run 7](https://bot.example/runs/7)');
      }
    }
  });

  it('say beside the figures what lessens their worth', () => {
    const benchmark = {
      ...(sampleReport.benchmark as object),
      warnings: ['other processes used 34.8 % of the CPU'],
    };
    const text = renderIssueStatus(
      sampleView(sampleStates.passed, { report: { ...sampleReport, benchmark } }),
    );
    expect(text.split('<details>')[0]).toContain('other processes used 34.8 % of the CPU');
  });

  it('mark the steps done, at hand and to come', () => {
    const text = renderIssueStatus(sampleView(sampleStates.generating));
    expect(text).toMatch(/✅ Plan made\n- ⏳ Writing the engine\n- ⬜ Open a draft pull request/);
  });

  it('say who can approve, how, and for what', () => {
    const text = renderIssueStatus(sampleView(sampleStates.approval, { approvalFrom: 'maintain' }));
    expect(text).toContain('at least the **maintain** permission');
    expect(text).toContain('add the label `metainfer:approved`, or comment `/metainfer generate`');
    expect(text).toContain(sampleStates.approval.constraintsSha256!.slice(0, 12));
  });

  it('name the label that no runner serves and the runners seen', () => {
    const queue = {
      labels: ['self-hosted', 'metainfer-cpu-avx2'],
      waitingMinutes: 5.4,
      seenRunners: [{ name: 'box-1', labels: ['self-hosted'] }],
    };
    const text = renderPullStatus(sampleView(sampleStates.onRunner, { queue }));
    expect(text).toContain('No runner has taken the job for 5 minutes');
    expect(text).toContain('No runner seen here has `metainfer-cpu-avx2`');
    expect(text).toContain('- `box-1` with `self-hosted`');
  });

  it('show the plot with its figures in words, and the same figures as a table', () => {
    const text = renderPullStatus(passed);
    expect(text).toMatch(
      /!\[Tokens per second of this engine and llama\.cpp: decode 25\.8 against 29\.2.*\]\(https:\/\/bot\.example\/runs\/7\/plots\/speed\.svg\)/,
    );
    expect(text).toContain('| Decode (`tg64`) | 25.8 ± 0.4 | 29.2 ± 0.9 | **0.88x**');
  });

  it('leave out the report of an attempt before', () => {
    const again = sampleView(sampleStates.onRunner, { report: sampleReport });
    const lost = sampleView(failedState('RUNNER_FAILED', 'No artifact.'), { report: sampleReport });
    for (const view of [again, lost]) {
      for (const text of [renderIssueStatus(view), renderPullStatus(view), renderCheck(view).summary])
        expect(text).not.toContain('✅ met');
    }
  });

  it('show the end of the log where the runner gave no result, and nothing of it as markup', () => {
    const log = { text: `${'old\n'.repeat(500)}no space left @octocat\n\`\`\`\n</details>` };
    const text = renderPullStatus(sampleView(failedState('RUNNER_FAILED', 'No artifact.'), { log }));
    expect(text).toContain('````text\n');
    expect(text.match(/^old$/gm)!.length).toBeLessThan(60);
    expect(text).toContain('comment `/metainfer retry`');
  });
});

describe('the comment at the end', () => {
  it('tells of a pass in one line', () => {
    expect(renderTerminalComment(passed)).toBe(
      '✅ **qwen3-0-6b passed**: 3 of 3 goals met, 25.8 tokens/s decode (0.88x llama.cpp). Please review #13. Merging it closes this issue.',
    );
  });

  it('tells of a failure with the finding that is to blame first, and what to do', () => {
    const text = renderTerminalComment(
      failedView([compilerError, sampleFinding], ['norm.rms', 'linear.dense']),
    );
    expect(text).toContain('`norm_rms.cpp:12`');
    expect(text).toContain('… and 1 more');
    expect(text).toContain('**What to do:** The findings point at `norm.rms`');
  });

  it('is not written for a run that was stopped or replaced', () => {
    expect(renderTerminalComment(sampleView(sampleStates.cancelled))).toBeNull();
    expect(renderTerminalComment(sampleView(sampleStates.superseded))).toBeNull();
  });
});
