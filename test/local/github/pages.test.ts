import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base, type ConversationWorld, openConversationWorld } from './conversation-world.ts';

const workflow = `name: MetaInfer engine
run-name: metainfer \${{ inputs.request_id }}
on:
  workflow_dispatch:
    inputs:
      request_id: { required: true, type: string }
jobs:
  engine:
    runs-on: [self-hosted]
    steps: [{ run: 'true' }]
`;
const attack = '<script>alert(1)</script><img src="x" onerror="alert(1)"><a href="javascript:alert(1)">x</a>';
const markdown = `<!-- metainfer:status secret-marker -->
**bold**, see #1, \`#1\` and &#39;#1 ${attack}

<details><summary>Plan</summary>

| a | b |
|---|---|
| 1 | 2 |

</details>

\`\`\`mermaid
graph TD
\`\`\`
`;

let world: ConversationWorld;
let issue: number;
let pull: number;
let checkId: number;

beforeAll(async () => {
  world = await openConversationWorld({
    'README.md': '# Engines\n',
    'norm.cpp': 'one\ntwo\nthree\n',
    '.github/workflows/metainfer-engine.yml': workflow,
  });
  const { mona, wilma, rita, bot } = world;
  issue = (await mona('POST', `${base}/issues`, { title: `Engine ${attack}`, body: markdown })).body.number;
  await mona('POST', `${base}/issues/${issue}/labels`, { labels: ['metainfer:approved'] });
  const comment = await rita('POST', `${base}/issues/${issue}/comments`, { body: '/metainfer plan' });
  await bot('POST', `${base}/issues/comments/${comment.body.id}/reactions`, { content: 'rocket' });
  const sha = await world.push('metainfer/1-tiny', {
    'norm.cpp': 'one\n<TWO>\nthree\n',
    'added.cpp': 'new\n',
  });
  const draft = { title: 'tiny-qwen3', body: markdown, head: 'metainfer/1-tiny', base: 'main', draft: true };
  pull = (await bot('POST', `${base}/pulls`, draft)).body.number;
  await bot('POST', `${base}/pulls/${pull}/reviews`, {
    commit_id: sha,
    event: 'COMMENT',
    body: 'The engine fails one gate.',
    comments: [{ path: 'norm.cpp', line: 2, side: 'RIGHT', body: `wrong epsilon ${attack}` }],
  });
  await wilma('POST', `${base}/pulls/${pull}/comments`, {
    ...{ commit_id: sha, path: 'added.cpp', subject_type: 'file', body: 'what is this file for?' },
  });
  const output = {
    title: 'failed: trace',
    summary: '| goal | wanted |\n|---|---|\n| decode | 2 |',
    annotations: [
      {
        path: 'norm.cpp',
        start_line: 2,
        end_line: 2,
        annotation_level: 'failure',
        message: `differs ${attack}`,
      },
    ],
  };
  const actions = [{ label: 'Retry', description: 'Run it again', identifier: 'retry' }];
  const check = { name: 'metainfer', head_sha: sha, conclusion: 'failure', output, actions };
  checkId = (await bot('POST', `${base}/check-runs`, check)).body.id;
  const dispatch = { ref: 'main', inputs: { request_id: '01jd-1' } };
  await mona('POST', `${base}/actions/workflows/metainfer-engine.yml/dispatches`, dispatch);
});
afterAll(() => world.stop());

async function open(path: string, init?: RequestInit): Promise<string> {
  const response = await fetch(world.github.url + path, init);
  const page = await response.text();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page).toContain('Local stand-in, not GitHub');
  expect(page).not.toMatch(/<script|<[^>]*(?: onerror=|"javascript:)/i);
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
  return page;
}

describe('the pages of the local GitHub', () => {
  it('list the repository with its pull requests, issues, workflow runs, branches, files and README', async () => {
    expect(await open('/')).toContain('mona / <strong>engines</strong>');
    const page = await open('/mona/engines');
    expect(page).toContain(`href="${world.github.url}/mona/engines/pull/${pull}">tiny-qwen3</a>`);
    expect(page).toContain(`/mona/engines/issues/${issue}"`);
    expect(page).toContain('metainfer 01jd-1</a>');
    expect(page).toContain('<code>metainfer/1-tiny</code>');
    expect(page).toContain('/mona/engines/blob/main/norm.cpp"');
    expect(page).toContain('<h1>Engines</h1>');
  });

  it('show an issue with labels, comments, reactions and the harmless part of its HTML', async () => {
    const page = await open(`/mona/engines/issues/${issue}`);
    expect(page).toContain('Engine &lt;script&gt;alert(1)');
    expect(page).toContain('<span class="label">metainfer:approved</span>');
    expect(page).toMatch(/<strong>rita<\/strong> commented/);
    expect(page).toContain('🚀 metainfer-test[bot]');
    expect(page).toMatch(/<details><summary>Plan<\/summary>\s*<table>/);
    expect(page).toContain('<code class="language-mermaid">');
    expect(page).not.toContain('secret-marker');
    const link = `<a href="${world.github.url}/mona/engines/issues/1">#1</a>`;
    expect(page).toContain(`see ${link}, <code>#1</code> and`);
  });

  it('show a pull request: state, commits, review with the diff above its comment, checks', async () => {
    const page = await open(`/mona/engines/pull/${pull}`);
    expect(page).toContain('>Draft</strong>');
    expect(page).toContain('wants to merge 1 commit into <code>main</code>');
    expect(page).toContain('The engine fails one gate.');
    expect(page).toMatch(/line 2<\/span>[\s\S]*&lt;TWO&gt;[\s\S]*wrong epsilon/);
    expect(page).toMatch(/the file<\/span>[\s\S]*what is this file for\?/);
    expect(page).toMatch(/✗ failure<\/strong> <a [^>]*>metainfer<\/a> failed: trace/);
    const moved = await fetch(`${world.github.url}/mona/engines/issues/${pull}`, { redirect: 'manual' });
    expect(moved.headers.get('location')).toBe(`${world.github.url}/mona/engines/pull/${pull}`);
  });

  it('put a comment of the diff right below the line that it is about', async () => {
    const page = await open(`/mona/engines/pull/${pull}/files`);
    const row = page.indexOf('<td>+&lt;TWO&gt;</td>');
    const [comment, next] = [page.indexOf('wrong epsilon'), page.indexOf('<td> three</td>')];
    expect(row).toBeGreaterThan(0);
    expect([row < comment, comment < next]).toEqual([true, true]);
    expect(page).toContain('<td class="line">2</td><td class="line"></td><td>-two</td>');
    expect(page).toContain('what is this file for?');
  });

  it('show a check with its table, its annotations at their lines and its buttons', async () => {
    for (const path of [`/mona/engines/runs/${checkId}`, `/mona/engines/pull/${pull}/checks`]) {
      const page = await open(path);
      expect(page).toContain('<td>decode</td>');
      expect(page).toMatch(/blob\/[0-9a-f]{40}\/norm\.cpp#L2"><code>norm\.cpp:2</);
      expect(page).toContain('title="Run it again">Retry</span>');
    }
  });

  it('show a workflow run with its inputs, labels and state', async () => {
    const [run] = [...world.repository.workflowRuns.values()];
    const page = await open(`/mona/engines/actions/runs/${run?.id}`);
    expect(page).toContain('● queued');
    expect(page).toContain('Input <code>request_id</code>: <code>01jd-1</code>');
    expect(page).toContain('no runner has taken it');
  });

  it('show files of a branch whose name holds a slash, folders, and commits', async () => {
    const file = await open('/mona/engines/blob/metainfer/1-tiny/norm.cpp');
    expect(file).toContain('<tr id="L2"><td class="line">2</td><td>&lt;TWO&gt;</td></tr>');
    expect(await open('/mona/engines/tree/main/.github/workflows')).toContain('metainfer-engine.yml');
    const commit = await open('/mona/engines/commit/metainfer%2F1-tiny');
    expect(commit).toContain('+&lt;TWO&gt;');
    const [first] = (await world.github.world.git(world.repository, ['rev-list', '--reverse', 'main'])).split(
      '\n',
    );
    expect(await open(`/mona/engines/commit/${first}`)).toContain('README.md');
  });

  it('hide a private repository from whoever does not show a token for it', async () => {
    const { github } = world;
    await github.addRepository('mona', 'secret', { isPrivate: true, files: { 'a.txt': 'a' } });
    expect(await open('/')).not.toContain('secret');
    expect((await fetch(`${github.url}/mona/secret`)).status).toBe(404);
    const headers = { authorization: `Bearer ${github.userToken('mona')}` };
    expect(await open('/mona/secret', { headers })).toContain('Private');
  });

  it('answer 404 for what does not exist', async () => {
    for (const path of [
      'issues/999',
      'pull/999',
      `pull/${issue}`,
      'runs/1',
      'actions/runs/1',
      'blob/main/none',
      'commit/none',
    ]) {
      expect((await fetch(`${world.github.url}/mona/engines/${path}`)).status).toBe(404);
    }
  });
});
