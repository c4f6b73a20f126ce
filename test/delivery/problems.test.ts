import { describe, expect, it } from 'vitest';
import { renderPlanReview } from '../../src/delivery/render-plan-review.ts';
import { codeFrame } from '../../src/delivery/render-problems.ts';
import { renderIssueStatus } from '../../src/delivery/render-status.ts';
import { renderTerminalComment } from '../../src/delivery/render-terminal.ts';
import { suggestLine } from '../../src/delivery/suggest-line.ts';
import { problemsOf, refusedView, samplePlan, sampleStates, sampleView } from './sample-run.ts';

const wrong = [
  'apiVersion: metainfer/v1',
  'name: x y',
  'modle:',
  '  id: Qwen/Qwen3-0.6B',
  'hardware:',
  '  platform: cpu-x86_64',
  '  arch: avx9',
  'numerics: {weights: bf1}',
  '',
].join('\n');
const path = 'constraints/x.yaml';
const added = {
  path,
  status: 'added',
  patch: `@@ -0,0 +1,8 @@\n${wrong
    .trimEnd()
    .split('\n')
    .map((line) => `+${line}`)
    .join('\n')}`,
};

describe('a constraint file with problems in an issue', () => {
  const view = refusedView(wrong);
  const text = renderIssueStatus(view);

  it('is answered with every problem by line and column, in the file and in the description', () => {
    const { problems } = problemsOf(wrong);
    expect(problems.length).toBeGreaterThan(5);
    for (const { line, column } of problems)
      expect(text).toContain(`Line ${line}:${column} (line ${8 + line!} of the description)`);
    expect(text).toContain(`${problems.length} problems in the constraint file`);
  });

  it('shows the line itself with a caret under the place', () => {
    expect(text).toContain('> 7 |   arch: avx9\n    |         ^');
  });

  it('says what to do, and needs no second comment', () => {
    expect(text).toContain('Edit the description above and save it');
    expect(renderTerminalComment(view)).toBeNull();
  });

  it('repeats what the person wrote as text and not as markup', () => {
    const hostile = renderIssueStatus(
      refusedView('apiVersion: metainfer/v1\n"@all<img>": 1\nname: "```@octocat"\n'),
    );
    const outsideCode = hostile
      .replace(/^(`{3,})text\n[\s\S]*?^\1$/gm, '')
      .replace(/(`+)[^`][\s\S]*?\1/g, '');
    expect(outsideCode).not.toMatch(/<img|@octocat|@all/);
  });
});

describe('a constraint file with problems in a pull request', () => {
  const review = renderPlanReview(refusedView(wrong, path), [added], 'generates');

  it('gets each problem as a comment on its line', () => {
    expect(review.comments.map(({ line }) => line)).toEqual([1, 2, 3, 5, 7, 8]);
    expect(review.body).toContain('9 problems in `constraints/x.yaml`');
    expect(review.fileComments).toEqual([]);
  });

  it('gets a suggestion where the right word is known, which leaves the rest of the line alone', () => {
    const bodies = new Map(review.comments.map(({ line, body }) => [line, body]));
    expect(bodies.get(3)).toContain('```suggestion\nmodel:\n```');
    expect(bodies.get(8)).toContain('```suggestion\nnumerics: {weights: bf16}\n```');
    expect(bodies.get(2)).not.toContain('suggestion');
  });

  it('has problems on lines that the diff does not show on the file or in its body, none lost', () => {
    const partial = { ...added, patch: '@@ -7 +7 @@\n-  arch: avx2\n+  arch: avx9' };
    const partly = renderPlanReview(refusedView(wrong, path), [partial], 'generates');
    expect(partly.comments.map(({ line }) => line)).toEqual([7]);
    const said = [partly.body, ...partly.fileComments.map(({ body }) => body)].join('\n');
    for (const word of ['modle', 'bf1', 'hardware.memory']) expect(said).toContain(word);
  });
});

describe('a good constraint file in a pull request', () => {
  const view = sampleView(sampleStates.approval);

  it('gets its plan and how it goes on', () => {
    const { body } = renderPlanReview(view, [], 'waits-for-approval');
    expect(body).toContain('`/metainfer generate`');
    for (const { contract } of samplePlan.coverage) expect(body).toContain(contract);
  });

  it('is told that a fork gets a plan and nothing more', () => {
    expect(renderPlanReview(view, [], 'plan-only').body).toMatch(/fork.* a plan and nothing more/);
  });
});

describe('suggestLine', () => {
  const problem = { severity: 'error', code: 'unknown-value', line: 2, column: 7 } as const;

  it('replaces the word where the problem says it stands', () => {
    const fixed = suggestLine('a: avx9\nb: x, avx9', {
      ...problem,
      message: 'unknown instruction set "avx9"',
      suggestion: 'Did you mean avx2?',
    });
    expect(fixed).toBe('b: x, avx2');
  });

  it('suggests nothing where the word stands elsewhere, or the advice is more than a word', () => {
    const message = 'unknown instruction set "avx9"';
    const suggestion = 'Did you mean avx2?';
    expect(suggestLine('a\nb: avx9', { ...problem, column: 20, message, suggestion })).toBeUndefined();
    expect(suggestLine('a\nb: avx9', { ...problem, message, suggestion: 'Remove it.' })).toBeUndefined();
    expect(suggestLine('a', { ...problem, message, suggestion })).toBeUndefined();
  });
});

describe('codeFrame', () => {
  it('survives a place beyond the text, lone carriage returns and very long lines', () => {
    expect(codeFrame('a\rb', 2, 1)).toContain('> 2 | b\n    | ^');
    expect(codeFrame('a', 9, 1)).toContain('> 9 | ');
    expect(codeFrame('x'.repeat(5000), 1, 4000).length).toBeLessThan(200);
  });
});
