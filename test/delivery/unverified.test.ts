import { describe, expect, it } from 'vitest';
import { renderCheck } from '../../src/delivery/render-check.ts';
import { renderPullBody } from '../../src/delivery/render-pull.ts';
import { renderReview } from '../../src/delivery/render-review.ts';
import { renderIssueStatus, renderPullStatus } from '../../src/delivery/render-status.ts';
import { renderTerminalComment } from '../../src/delivery/render-terminal.ts';
import { onDeviceReport } from '../fixtures/unrun-report.ts';
import { sampleReport, sampleStates, sampleUnrun, sampleView } from './sample-run.ts';

const labels = ['self-hosted', 'linux', 'x64', 'gpu', 'metainfer-cuda-sm-90'];
const view = sampleView(sampleStates.unverified, {
  report: sampleUnrun,
  runner: { name: 'compile-box', labels },
});
const review = renderReview(view, []);
const check = renderCheck(view);
const texts = {
  review: review.body,
  'check summary': check.summary,
  'check text': check.text ?? '',
  'issue status': renderIssueStatus(view),
  'pull status': renderPullStatus(view),
  'last comment': renderTerminalComment(view) ?? '',
};

describe('an engine that no device ran', () => {
  it('gets a neutral check with that title and a Retry button', () => {
    expect([check.status, check.conclusion, check.title]).toEqual([
      ...['completed', 'neutral', 'Not run on a device'],
    ]);
    expect(check.actions.map(({ identifier }) => identifier)).toEqual(['retry']);
    expect(check.annotations).toEqual([]);
  });

  it.each(Object.entries(texts))('is called neither passed nor failed: %s', (_, text) => {
    expect(text).not.toBe('');
    // Gates pass, and a gate's row says so; the engine does not.
    const prose = text.replace(/^\|.*$/gm, '').replace('Nothing failed.', '');
    expect(prose).not.toMatch(/\bpassed\b|❌|\bfailed\b|ready for review|Closes #/i);
    expect(text).not.toMatch(/undefined|null|NaN|\[object/);
  });

  it('has a review that says of every gate where it ran, or that it did not', () => {
    const row = (gate: string) =>
      new RegExp(`^\\| \`${gate}\` \\| (.*?) \\| (.*?) \\|`, 'm').exec(review.body);
    expect(row('build')?.slice(1)).toEqual(['✅ passed', 'host']);
    expect(row('unit')?.slice(1)).toEqual(['✅ passed', 'host emulation: arithmetic only']);
    for (const gate of ['ledger', 'trace', 'logits', 'text', 'bench', 'physics'])
      expect(row(gate)?.slice(1)).toEqual(['⚪ not run: this machine has no NVIDIA GPU', 'not run']);
    expect(review.body).toMatch(/^\*\*⚪ qwen3-0-6b: not run on a device\*\*/);
    expect(review.comments).toEqual([]);
  });

  it('lists in words what was checked, how, and what was not', () => {
    for (const text of [texts.review, texts['issue status'], texts['last comment']]) {
      expect(text).toContain('- Checked on the host: static, build.');
      expect(text).toContain('- Checked in host emulation (arithmetic only): unit.');
      expect(text).toMatch(/- Not checked, because it takes a device: ledger, trace, .*bench, physics\./);
    }
  });

  it('shows each goal as not measured, and why', () => {
    for (const text of [texts.review, texts['check summary'], texts['pull status']]) {
      expect(text).toContain('⚠️ not measured: not run on a device');
      expect(text).not.toContain('✅ met');
    }
  });

  it('names the runner that has no GPU, the labels that one with a GPU needs, and the next command', () => {
    expect(texts.review).toContain('The runner `compile-box` has no GPU');
    for (const text of [texts.review, texts['last comment'], texts['issue status']]) {
      expect(text).toContain('`gpu` and `metainfer-cuda-sm-90`');
      expect(text).toContain('comment `/metainfer retry`');
    }
    expect(texts['last comment']).toContain('#13, a draft');
    const bare = renderIssueStatus(sampleView(sampleStates.unverified, { report: sampleUnrun }));
    expect(bare).toContain('The runner that took the job has no GPU');
  });

  it('says in the check what compiled it and that there was no GPU', () => {
    expect(check.text).toContain('nvcc 13.1.80, no GPU');
  });

  it('stays a draft that closes nothing', () => {
    const body = renderPullBody(view, { closes: false });
    expect(body).toContain('This stays a draft until a self-hosted runner has built it');
    expect(body).not.toContain('Closes #');
  });
});

describe('an engine that a device ran', () => {
  it('has the GPU and its driver in the check, and where each gate ran', () => {
    const report = onDeviceReport(sampleReport);
    const { text, conclusion } = renderCheck(sampleView(sampleStates.passed, { report }));
    expect(conclusion).toBe('success');
    expect(text).toContain('NVIDIA H200, compute capability `9.0`, driver `580.82.07`');
    expect(text).toMatch(/\| `logits` \| ✅ passed \| device \|/);
  });
});
