import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConstraints } from '../src/constraints/parse-constraints.ts';
import { loadCatalog } from '../src/knowledge/load-catalog.ts';
import { knowledgeRoot } from '../src/preparation/knowledge-base.ts';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

describe('the README', () => {
  it('shows a constraint file that is accepted as it stands', async () => {
    const block = /```yaml\n(apiVersion: metainfer\/v1\n[\s\S]*?)```/.exec(readme)![1]!;
    const { catalog } = await loadCatalog(knowledgeRoot());
    const parsed = parseConstraints(block, {
      origin: 'github',
      catalogModels: catalog!.models,
      catalogPlatforms: catalog!.platforms,
    });
    expect(parsed.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect([parsed.notCovered, parsed.constraints?.name]).toEqual([[], 'qwen3-0-6b']);
  });

  it('links to files that are there', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map((match) => match[1]!);
    const local = links.filter((link) => !/^https?:/.test(link));
    expect(local.length).toBeGreaterThan(5);
    expect(local.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  });
});
