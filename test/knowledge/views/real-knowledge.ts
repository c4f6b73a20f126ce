import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkTree } from '../../../src/knowledge/load-catalog.ts';
import { readTree, sha256Of, type Tree } from '../../../src/knowledge/read-tree.ts';
import type { KnowledgeView } from '../../../src/knowledge/views/knowledge-view.ts';
import { formatProblem } from '../../../src/model/problem.ts';
import { knowledgeRoot } from '../../../src/preparation/knowledge-base.ts';
import { openKnowledgeView } from '../../../src/preparation/open-knowledge-view.ts';

/** The knowledge of this repository, in memory. */
export async function openRealKnowledge(): Promise<{ readonly view: KnowledgeView; readonly tree: Tree }> {
  const cache = mkdtempSync(join(tmpdir(), 'metainfer-views-'));
  try {
    return { view: await openKnowledgeView(cache), tree: await readTree(knowledgeRoot()) };
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}

/** A copy with other files: new text, or null for a file that is gone. It must still be without a fault. */
export function changeKnowledge(
  { view, tree }: { readonly view: KnowledgeView; readonly tree: Tree },
  edit: Readonly<Record<string, ((text: string) => string) | null>>,
): KnowledgeView {
  const files = new Map(tree);
  for (const [path, change] of Object.entries(edit)) {
    const old = files.get(path);
    if (old === undefined) throw new Error(`${path} is not in the tree`);
    if (change === null) files.delete(path);
    else {
      const text = change(old.text);
      if (text === old.text) throw new Error(`${path} stayed as it was`);
      files.set(path, { path, text, sha256: sha256Of(text) });
    }
  }
  const { catalog, problems } = checkTree(files);
  if (catalog === undefined) throw new Error(problems.map(formatProblem).join('\n'));
  return { ...view, catalog };
}
