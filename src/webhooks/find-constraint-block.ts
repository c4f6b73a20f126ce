import type { ConstraintBlock } from '../model/github.ts';
import { nearestName } from '../model/nearest-name.ts';
import { type MarkdownNode, readMarkdown, unquotedBlocks, withoutInvisible } from './markdown-blocks.ts';

/** The label of the text area in .github/ISSUE_TEMPLATE/engine-request.yml: GitHub makes it a heading of the body. */
export const constraintHeading = 'Constraint file';

/**
 * The constraint file in the body of an issue: the one fenced block (``` or ~~~; yaml, yml or no language) that names
 * our `apiVersion`, also a misspelt one, or that stands under the issue form's heading. Quotations, HTML comments and
 * blocks of other languages don't count. Never throws. A problem on line L of `text` is on line `firstLine - 1 + L`
 * of the body.
 */
export function findConstraintBlock(body: string): ConstraintBlock {
  if (!/```|~~~/.test(body)) return { kind: 'none' };
  const { root, text } = readMarkdown(body);
  const blocks = unquotedBlocks(root);
  const found = blocks.flatMap((node, index) =>
    node.type === 'code' && isFence(node, text) && isConstraintFence(node, blocks[index - 1])
      ? [{ text: node.value, firstLine: node.position!.start.line + 1 }]
      : [],
  );
  const [first, second] = found;
  if (first === undefined) return { kind: 'none' };
  if (second === undefined) return { kind: 'found', ...first };
  return { kind: 'several', firstLines: found.map(({ firstLine }) => firstLine) };
}

type Code = Extract<MarkdownNode, { type: 'code' }>;

function isConstraintFence(code: Code, before: MarkdownNode | undefined): boolean {
  const language = code.lang?.toLowerCase() ?? null;
  if (language !== null && language !== 'yaml' && language !== 'yml') return false;
  return namesOurVersion(code.value) || (language !== null && isFormHeading(before));
}

/** Code by indentation alone is none. */
function isFence({ position }: Code, text: string): boolean {
  return /[`~]/.test(text[position!.start.offset!] ?? '');
}

function isFormHeading(node: MarkdownNode | undefined): boolean {
  if (node?.type !== 'heading') return false;
  const [text] = node.children;
  return text?.type === 'text' && text.value.trim().toLowerCase() === constraintHeading.toLowerCase();
}

/** `apiVersion: metainfer/…`, in the spelling of somebody who types it from memory. */
function namesOurVersion(text: string): boolean {
  const pattern = /^[^\S\r\n]*["']?([\w -]{1,30}?)["']?[^\S\r\n]*:[^\S\r\n]*["']?([\w-]{1,30})/gm;
  return [...withoutInvisible(text).matchAll(pattern)].some(
    ([, key, value]) =>
      nearestName(key!, ['apiVersion']) !== undefined && nearestName(value!, ['metainfer']) !== undefined,
  );
}
