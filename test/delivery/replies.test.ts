import { describe, expect, it } from 'vitest';
import {
  renderNotUnderstood,
  renderRefusal,
  renderStatusReply,
  renderUnservedLabel,
} from '../../src/delivery/replies.ts';
import { renderSetupProblem, type SetupProblem } from '../../src/delivery/setup-texts.ts';
import { sampleReport, sampleStates, sampleView } from './sample-run.ts';

const place = { githubUrl: 'https://github.com', repository: 'acme/models', defaultBranch: 'main' };
const path = '.github/workflows/metainfer-engine.yml';
const text = 'name: MetaInfer engine\non:\n  workflow_dispatch:\n';

describe('a set-up that is missing something', () => {
  it('gives the exact workflow text and a form that has it filled in', () => {
    const body = renderSetupProblem([{ kind: 'workflow-missing', path, text }], place);
    expect(body.replaceAll(/^ {3}/gm, '')).toContain(`\`\`\`yaml\n${text}\`\`\``);
    const url = new URL(/\((https:\/\/github\.com\/acme\/models\/new\/main\?[^)]*)\)/.exec(body)![1]!);
    expect(url.searchParams.get('filename')).toBe(path);
    expect(url.searchParams.get('value')).toBe(text);
  });

  it('leaves the text out of a link that would be too long, and keeps it in the comment', () => {
    const long = `${text}${'# comment\n'.repeat(1000)}`;
    const body = renderSetupProblem([{ kind: 'workflow-missing', path, text: long }], place);
    const links = [...body.matchAll(/\((https:[^)]*)\)/g)].map(([, url]) => url!);
    expect(links.every((url) => url.length < 8000)).toBe(true);
    expect(body.replaceAll(/^ {3}/gm, '')).toContain(long);
  });

  it('says for each thing who can set it right', () => {
    const problems: SetupProblem[] = [
      { kind: 'workflow-differs', path, text },
      { kind: 'workflow-disabled', path, state: 'disabled_manually' },
      { kind: 'actions-disabled' },
      { kind: 'permission-missing', permission: 'checks', needed: 'write', granted: 'read' },
      { kind: 'labels-unserved', labels: ['gpu'], seenRunners: [] },
      {
        kind: 'config-invalid',
        path: '.github/metainfer.yml',
        problems: [{ severity: 'error', code: 'x', line: 3, column: 1, message: 'unknown key "alow".' }],
      },
    ];
    const body = renderSetupProblem(problems, place);
    const items = body.split(/^\d\. /m).slice(1);
    expect(items).toHaveLength(problems.length);
    for (const item of items)
      expect(item).toMatch(/Somebody with write access|[Aa]dministrator|An owner of the account/);
    expect(body).toContain('3:1: unknown key "alow".');
  });
});

describe('replies to commands', () => {
  it('give the newest run and the state of the set-up', () => {
    const view = sampleView(sampleStates.passed, { report: sampleReport });
    const body = renderStatusReply([view], [], place);
    expect(body).toContain('[Run 7](https://bot.example/runs/7) · ✅ qwen3-0-6b passed');
    expect(body).toContain('#13');
    expect(body).toContain('workflow file are in order');
  });

  it('say nothing of a set-up that nobody looked at', () => {
    expect(renderStatusReply([sampleView(sampleStates.onRunner)], null, place)).not.toMatch(/[Ss]et-?up/);
  });

  it('tell what is waited for', () => {
    expect(renderStatusReply([sampleView(sampleStates.approval)], null, place)).toContain('needs approval');
    expect(renderStatusReply([sampleView(sampleStates.queued, { waitingBehind: 6 })], null, place)).toContain(
      'Run 6',
    );
    const held = { ...sampleStates.approval, holdAfterPlan: true };
    expect(renderStatusReply([sampleView(held)], null, place)).toContain('nothing else was asked for');
  });

  it('say where there is no run how to ask for one', () => {
    expect(renderStatusReply([], [], place)).toContain('put a constraint file into the issue');
  });

  it('quote what was not understood without obeying or showing it', () => {
    const body = renderNotUnderstood({
      kind: 'not-understood',
      line: '/metainfer `generrate` @octocat',
      message: 'There is no command `generrate`; did you mean `generate`?',
    });
    expect(body).toContain('``/metainfer `generrate` @octocat``');
    expect(body).toContain('did you mean `generate`?');
    // Our own comments must not read as commands: none of their lines begins with one.
    expect(body).not.toMatch(/^\/metainfer/m);
  });

  it('pass on a refusal without markup of others', () => {
    expect(renderRefusal('@octocat may not do that: `generate` needs write.')).toBe(
      '@&#8203;octocat may not do that: `generate` needs write.',
    );
  });

  it('say so where no runner was ever seen', () => {
    const queue = { labels: ['gpu'], waitingMinutes: 0.2, seenRunners: [] };
    expect(renderUnservedLabel({ queue })).toContain('for 1 minute.');
    expect(renderUnservedLabel({ queue })).toContain('No runner has taken a job of this repository yet');
  });
});
