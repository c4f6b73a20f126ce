import type { Problem } from '../../model/problem.ts';
import { pageProblem } from '../contract-folder.ts';
import { type KnowledgeChange, lineOf } from './knowledge-side.ts';

/** Every contract and fact says where it was read, so that others can open it. */
export function checkSources({ after }: KnowledgeChange): Problem[] {
  return [
    ...[...after.contracts.values()].flatMap((loaded) =>
      loaded.contract.frontMatter.sources.flatMap((source, index) =>
        isPlaceholder(source)
          ? [
              pageProblem(
                loaded,
                'source-missing',
                ['sources', index],
                `"${source}" is no source that others can open`,
              ),
            ]
          : [],
      ),
    ),
    ...checkModelSources(after.tree),
  ];
}

const emptyWords =
  /^(?:todo|tbd|tba|fixme|xxx|n\/?a|none|nothing|unknown|source|sources|placeholder|see above|me|myself|internet|the web|memory|…|\.+|-+|\?+)\b[.…\s]*$/i;

/** Whether a source names nothing: empty, a word that stands for one, an address that is reserved for examples. */
export function isPlaceholder(source: string): boolean {
  const text = source.trim();
  if (!/[\p{L}\p{N}]{2}/u.test(text)) return true;
  return (
    emptyWords.test(text) ||
    /^(?:todo|tbd|fixme)\b/i.test(text) ||
    /\bexample\.(?:com|org|net)\b/.test(text) ||
    /^<[^>]*>$/.test(text)
  );
}

/** `source: "…"` and the items of `sources:` in models/ and platforms/. */
function checkModelSources(tree: KnowledgeChange['after']['tree']): Problem[] {
  return [...tree.values()]
    .filter(({ path }) => /^(?:models|platforms)\//.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\bsource: *("([^"\n]*)"|'([^'\n]*)'|[^\s"'{[][^,}\n]*)/g)].flatMap(
        (match): Problem[] => {
          const source = match[2] ?? match[3] ?? match[1]!;
          if (!isPlaceholder(source)) return [];
          const line = lineOf(text, match[0]);
          const message = `"${source}" is no source that others can open`;
          return [{ severity: 'error', code: 'source-missing', file: path, line, message }];
        },
      ),
    );
}
