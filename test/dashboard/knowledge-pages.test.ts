import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderKnowledgePage } from '../../src/dashboard/knowledge-pages.ts';
import type { Catalog } from '../../src/model/catalog.ts';
import type { ContractGraph } from '../../src/model/contract-graph.ts';
import type { CoverageMatrix, CoverageState } from '../../src/model/coverage.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { createKnowledgePages } from '../../src/preparation/knowledge-pages.ts';
import { serveDashboard } from './dashboard-server.ts';

const cache = mkdtempSync(join(tmpdir(), 'metainfer-pages-'));
let catalog: Catalog;
let asked = 0;
let server: Awaited<ReturnType<typeof serveDashboard>>;

beforeAll(async () => {
  catalog = await openKnowledge(cache);
  const pages = createKnowledgePages(() => {
    asked++;
    return catalog;
  });
  server = await serveDashboard([], { knowledge: pages });
});
afterAll(async () => {
  await server.close();
  rmSync(cache, { recursive: true, force: true });
});

const noGraph: ContractGraph = { platform: null, nodes: [], edges: [] };

/** One row with one cell, made of one realization with a run that can be repeated. */
function matrixOf(state: CoverageState, repeat: readonly string[]): CoverageMatrix {
  const column = { platform: 'cpu-x86_64', weights: 'bf16' };
  const part = {
    ...{ ...column, arch: 'avx2', contract: 'norm.rms', realization: 'cpu-x86_64.cpp' },
    ...{
      state: 'repeatable' as const,
      says: 'tiny-qwen3 passed',
      report: 'knowledge/reports/a.json',
      repeat,
    },
  };
  const cell = { ...column, arch: 'avx2', state, says: 'as it is', open: [], parts: ['norm'], repeat };
  return {
    catalogSha256: '0'.repeat(64),
    columns: [column],
    rows: [{ name: 'qwen3: tied head', family: 'qwen3', features: ['tied head'], models: [], cells: [cell] }],
    counts: { verified: 0, composed: 0, 'agents only': 0, missing: 0, [state]: 1 },
    parts: { norm: part },
  };
}

describe('the page of the knowledge', () => {
  it('shows the matrix, and links to every contract and to what stands behind each cell', async () => {
    const page = await server.text('/knowledge');
    for (const { frontMatter } of catalog.contracts)
      expect(page).toContain(`<a href="/knowledge/${frontMatter.id}">${frontMatter.id}</a>`);
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]);
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter((name) => !page.includes(`id="${name}"`))).toEqual([]);
    expect(await server.text('/runs')).toContain('<a href="/knowledge">');
  });

  it('shows the commands behind a verified cell, and none behind another', async () => {
    const repeat = [
      'npx metainfer generate knowledge/examples/tiny-qwen3.yaml -o engines/tiny-qwen3',
      'npx metainfer verify engines/tiny-qwen3 --seed 7',
    ];
    const page = renderKnowledgePage(matrixOf('verified', repeat), noGraph);
    expect(page).toContain('>verified</span></a>');
    expect(page).toContain(`<pre>${repeat.join('\n')}</pre>`);
    expect(page).toContain('<li>1 repeatable: <a href="/knowledge/norm.rms">norm.rms</a></li>');
    expect(renderKnowledgePage(matrixOf('composed', []), noGraph)).not.toContain('<pre>');
  });

  it('has a picture of what needs what, which can run nothing', async () => {
    const picture = await server.get('/knowledge/graph.svg');
    expect(picture.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(picture.headers.get('content-security-policy')).toMatch(/sandbox$/);
    expect(await picture.text()).toContain('>norm.rms</text>');
  });

  it('follows the knowledge when it is another one', async () => {
    expect(asked).toBeGreaterThan(0);
    const before = catalog;
    const contracts = catalog.contracts.filter(({ frontMatter }) => frontMatter.id !== 'interface.cli');
    catalog = { ...catalog, contracts, sha256: '0'.repeat(64) };
    expect((await server.get('/knowledge/interface.cli')).status).toBe(404);
    catalog = before;
    expect((await server.get('/knowledge/interface.cli')).status).toBe(200);
  });
});

describe('the page of a contract', () => {
  it('shows its interface, who needs it, its realizations with their evidence, and its gaps', async () => {
    const page = await server.text('/knowledge/norm.rms');
    for (const text of ['void rms_norm(', 'href="/knowledge/attention.block"', 'cpu-x86_64.cpp', 'cuda.cu'])
      expect(page).toContain(text);
    expect(page).toContain('cuda.cu has no run on cuda that can be repeated.');
    expect(page).toContain('fm-22');
    expect(page).toMatch(/>repeatable<\/span>/);
  });

  it('escapes what a contract says', async () => {
    const pages = createKnowledgePages(() => ({
      ...catalog,
      contracts: catalog.contracts.map((contract) => ({
        ...contract,
        frontMatter: { ...contract.frontMatter, summary: '<script>alert(1)</script>' },
      })),
    }));
    const hostile = await serveDashboard([], { knowledge: pages });
    for (const path of ['/knowledge', '/knowledge/norm.rms', '/knowledge/graph.svg'])
      expect(await hostile.text(path)).not.toContain('<script>');
    await hostile.close();
  });

  it('answers 404 for a contract that is not there, and nothing strange for a strange name', async () => {
    const absent = await server.get('/knowledge/norm.layer');
    expect([absent.status, await absent.text()]).toEqual([
      404,
      expect.stringContaining('no contract norm.layer'),
    ]);
    for (const path of ['/knowledge/%2e%2e%2fx', '/knowledge/__proto__', '/knowledge/a/b', '/knowledge/'])
      expect((await server.get(path)).status).toBe(404);
  });
});
