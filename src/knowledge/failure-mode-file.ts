import { type FailureMode, FailureModeFrontMatter } from '../model/failure-mode.ts';
import type { Problem } from '../model/problem.ts';
import type { Tree } from './read-tree.ts';
import { checkSchema, splitFrontMatter, type YamlText } from './yaml-text.ts';

/** A failure mode with the places of its front matter. */
export interface LoadedFailureMode extends FailureMode {
  readonly locate: YamlText['locate'];
}

export function loadFailureModes(tree: Tree): {
  readonly failureModes: readonly LoadedFailureMode[];
  readonly problems: readonly Problem[];
} {
  const failureModes: LoadedFailureMode[] = [];
  const problems: Problem[] = [];
  const idFiles = new Map<string, string>();
  for (const file of tree.values()) {
    if (!file.path.startsWith('failure-modes/') || file.path === 'failure-modes/README.md') continue;
    const slug = /^failure-modes\/([a-z0-9-]+)\.md$/.exec(file.path)?.[1];
    if (slug === undefined) {
      problems.push({
        severity: 'error',
        code: 'unexpected-file',
        file: file.path,
        message: 'expected failure-modes/<id>-<slug>.md',
      });
      continue;
    }
    const split = splitFrontMatter(file.text, file.path);
    if ('problem' in split) {
      problems.push(split.problem);
      continue;
    }
    const checked = checkSchema(split.yaml, FailureModeFrontMatter, file.path);
    problems.push(...checked.problems);
    if (checked.value === undefined) continue;
    const { id } = checked.value;
    const place = { file: file.path, ...split.yaml.locate(['id']), path: 'id' };
    if (!slug.startsWith(`${id}-`)) {
      problems.push({
        severity: 'error',
        code: 'id-not-file',
        ...place,
        message: `the file name must start with ${id}-`,
      });
    }
    const first = idFiles.get(id);
    if (first !== undefined) {
      problems.push({
        severity: 'error',
        code: 'duplicate-id',
        ...place,
        message: `${id} is also the id of ${first}`,
      });
    }
    idFiles.set(id, file.path);
    failureModes.push({ slug, frontMatter: checked.value, body: split.body, locate: split.yaml.locate });
  }
  return { failureModes, problems };
}
