import { afterEach, describe, expect, it } from 'vitest';
import type { DashboardOptions } from '../../src/dashboard/dashboard.ts';
import type { Finding, Report } from '../../src/model/report.ts';
import { unrunReport } from '../fixtures/unrun-report.ts';
import { serveDashboard } from './dashboard-server.ts';
import { minutesLater, opaquePlan, realReport, type SampleRun, sampleRun } from './sample-runs.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function serve(samples: readonly SampleRun[], changes: Partial<DashboardOptions> = {}) {
  const server = await serveDashboard(samples, changes);
  open.push(server);
  return server;
}

const _secret = { ...sampleRun(2).repository, id: 8, name: 'secret-plans', isPrivate: true };
const attack = '</pre></script><script>alert(1)</script><img src=x onerror="alert(1)">\'"&\u0000';

function failingReport(finding: Partial<Finding>): Report {
  const report = realReport();
  const gates = report.gates.map((gate) =>
    gate.gate === 'build'
      ? {
          ...gate,
          status: 'failed' as const,
          findings: [
            {
              gate: 'build' as const,
              contract: 'norm/rms',
              file: 'norm_rms.cpp',
              line: 12,
              message: 'm',
              evidence: {},
              ...finding,
            },
          ],
        }
      : gate,
  );
  return { ...report, verdict: 'failed', gates };
}

describe('a run that had no device', () => {
  it('is called so in the list and on its page, which says where each gate ran and that there was no GPU', async () => {
    const report = unrunReport(realReport());
    const run = sampleRun(1, {}, { status: 'unverified', next: null });
    const { text } = await serve([{ run, documents: { report } }]);
    expect(await text('/runs')).toContain('○</span> not run on a device');
    const page = await text('/runs/1');
    expect(page).toMatch(/<title>Run 1: [^<,]+, not run on a device/);
    expect(page).toContain('“/metainfer retry” judges it there');
    expect(page).toContain('host emulation: arithmetic only');
    expect(page).toContain('○ not run');
    expect(page).toContain('none on this runner');
    expect(page).not.toMatch(/Why it failed|✗|✓ met/);
  });
});

describe('the list of runs', () => {
  it('shows the newest run first, with state, engine, place and person', async () => {
    const running = sampleRun(2, { finishedAt: null }, { status: 'running', next: 'publish' });
    const { get, text } = await serve([{ run: sampleRun(1) }, { run: running }]);
    expect((await get('/')).headers.get('location')).toBe('/runs');
    const page = await text('/runs');
    expect(page.indexOf('/runs/2"')).toBeLessThan(page.indexOf('/runs/1"'));
    expect(page).toContain('href="https://github.com/ada/engines/issues/5"');
    expect(page).toContain('pushing the branch and opening the pull request');
    expect(page).toContain('3 min 0 s');
  });

  it('says what to do where there is no run yet', async () => {
    const { text } = await serve([]);
    expect(await text('/runs')).toContain('Open an issue with a constraint file');
  });
});

describe('the page of a run', () => {
  it('shows goals, speed with its spread, plots with their figures as text, gates, plan, attempts and timeline', async () => {
    const { text } = await serve([
      {
        run: sampleRun(3),
        documents: { report: realReport(), plan: opaquePlan, log: { text: 'last line of the log' } },
        timeline: [
          {
            at: minutesLater(1),
            kind: 'github',
            text: 'opened pull request #6',
            url: 'https://github.com/ada/engines/pull/6',
          },
        ],
        attempts: [
          {
            number: 1,
            requestId: '01jd3-1',
            workflowRunId: 1234,
            startedAt: minutesLater(1),
            endedAt: minutesLater(3),
            outcome: 'passed',
          },
        ],
      },
    ]);
    const page = await text('/runs/3');
    expect(page).toContain('5,042 ± 1,119');
    expect(page).toContain('3.48x');
    expect(page).toContain('data-head="Physical limit">71,343<');
    expect(page).toContain('data-head="Reached">7.1 %<');
    expect(page).toMatch(
      /<img src="\/runs\/3\/plots\/speed\.svg" alt="Tokens per second[^"]*tiny-qwen3 5,042 ± 1,119, llama\.cpp 1,448/,
    );
    expect(page).toContain('<code>&gt;= 0.7x llama.cpp</code>');
    for (const gate of realReport().gates) expect(page).toContain(`data-head="Gate">${gate.gate}</td>`);
    expect(page).toContain('<h2>Plan: tiny-qwen3</h2>');
    expect(page).toContain('&lt;b&gt;1&lt;/b&gt;');
    expect(page).toContain('href="https://github.com/ada/engines/actions/runs/1234"');
    expect(page).toContain('opened pull request #6');
    expect(page).toContain('last line of the log');
  });

  it('leads from a finding to its line in the commit that was judged', async () => {
    const run = sampleRun(4, {}, { status: 'failed' });
    const { text } = await serve([
      { run, documents: { report: failingReport({ message: 'norm_rms.cpp:12: expected ;' }) } },
    ]);
    const page = await text('/runs/4');
    const commit = run.state.github?.engineCommit;
    expect(page).toContain(`/ada/engines/blob/${commit}/engines/tiny-qwen3/norm_rms.cpp#L12"`);
    expect(page).toContain('norm_rms.cpp:12: expected ;');
  });

  it('says why a run failed and what to do, and every problem of the constraint file with its line', async () => {
    const failure = {
      step: 'constraints',
      code: 'CONSTRAINTS_INVALID',
      message: 'The file has a problem.',
      next: 'Edit the issue.',
    } as const;
    const problem = {
      severity: 'error',
      code: 'unknown-key',
      line: 10,
      column: 3,
      path: 'hardware',
      message: 'Unknown key "thread".',
    } as const;
    const { text } = await serve([
      {
        run: sampleRun(5, {}, { status: 'failed', failure }),
        documents: { problems: { problems: [problem], notCovered: ['CUDA'] } },
      },
    ]);
    const page = await text('/runs/5');
    expect(page).toContain('The file has a problem.');
    expect(page).toContain('Edit the issue.');
    expect(page).toContain('10:3 hardware: Unknown key &quot;thread&quot;.');
    expect(page).toContain('Not covered yet: CUDA');
  });

  it('says who can let a waiting run go on, and which newer run took the place of an old one', async () => {
    const waiting = sampleRun(6, { finishedAt: null }, { status: 'waiting', waitingFor: 'approval' });
    const old = sampleRun(7, { supersededBy: 6 }, { status: 'superseded' });
    const { text } = await serve([{ run: waiting }, { run: old }]);
    expect(await text('/runs/6')).toContain(
      'somebody with write permission comments <code>/metainfer generate</code> or adds the label <code>metainfer:approved</code>',
    );
    expect(await text('/runs/7')).toContain('<a href="/runs/6">run 6</a>');
  });

  it('loads again by itself only while something moves, and not where the reader stopped it', async () => {
    const moving = sampleRun(8, { finishedAt: null }, { status: 'running', next: 'generate' });
    const waiting = sampleRun(9, { finishedAt: null }, { status: 'waiting', waitingFor: 'approval' });
    const { text } = await serve([{ run: moving }, { run: waiting }]);
    const reload = '<meta http-equiv="refresh"';
    expect(await text('/runs/8')).toContain(reload);
    expect(await text('/runs/8?reload=off')).not.toContain(reload);
    expect(await text('/runs/9')).not.toContain(reload);
  });

  it('shows hostile text as text, wherever it comes from', async () => {
    const report = failingReport({
      message: attack,
      contract: attack,
      file: attack,
      evidence: { [attack]: attack },
    });
    const failure = { step: 'judge', code: 'VERDICT_FAILED', message: attack, next: attack } as const;
    const run = sampleRun(
      10,
      {
        requestedBy: { id: 1, login: attack, isBot: false },
        repository: { ...sampleRun(1).repository, owner: attack, name: attack },
        source: { kind: 'pull', number: 5, path: attack, firstLine: 1 },
      },
      { status: 'failed', failure, input: { fileName: attack, text: attack, origin: 'github' } },
    );
    const { get, text } = await serve(
      [
        {
          run,
          documents: {
            report: {
              ...report,
              repeat: attack,
              goals: [
                {
                  metric: attack,
                  written: attack,
                  status: 'missed',
                  measured: 1,
                  baseline: null,
                  note: attack,
                },
              ],
            },
            problems: { problems: [{ severity: 'error', code: 'x', message: attack }], notCovered: [attack] },
            plan: opaquePlan,
            log: { text: attack },
          },
          timeline: [{ at: minutesLater(1), kind: 'problem', text: attack, url: 'javascript:alert(1)' }],
          attempts: [
            {
              number: 1,
              requestId: attack,
              workflowRunId: 1,
              startedAt: minutesLater(1),
              endedAt: null,
              outcome: attack,
            },
          ],
        },
      ],
      { renderPlan: () => `${attack}\n\n[x](javascript:alert(1))\n\n![x](javascript:alert(1))` },
    );
    for (const path of ['/runs', '/runs/10']) {
      const page = await text(path);
      expect(page).not.toMatch(/<script|<img src=x|href="javascript|src="javascript|\0/i);
      expect(page).toContain('&lt;script&gt;alert(1)');
    }
    const policy = (await get('/runs/10')).headers.get('content-security-policy');
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).not.toMatch(/unsafe|\*|script-src/);
  });
});
