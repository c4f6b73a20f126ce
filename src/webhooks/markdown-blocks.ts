import { fromMarkdown } from 'mdast-util-from-markdown';

export type MarkdownRoot = ReturnType<typeof fromMarkdown>;
export type MarkdownNode = MarkdownRoot['children'][number];

/** Inline syntax that can't hide a line: left unread, which also spares its worst cases. */
const unread = {
  disable: {
    null: [
      'attention',
      'autolink',
      'characterEscape',
      'characterReference',
      'definition',
      'hardBreakEscape',
      'labelEnd',
      'labelStartImage',
      'labelStartLink',
    ],
  },
};

/** A comment or body has at most 65,536 characters on GitHub, and a character at most two code units. */
const maxLength = 131_072;

/**
 * The parser's time grows with the square of the nesting: 65,536 times `>` keeps it busy for minutes. Nobody writes
 * more than a few levels on purpose, so a line's further markers and indentation are cut. Lines stay where they are.
 */
function flatten(text: string): string {
  return text
    .replace(/^([ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]*){12})[->+*\d.) \t]*/gm, '$1')
    .replace(/^([ \t]{100})[ \t]+/gm, '$1');
}

/** Blocks of a Markdown text as GitHub sees them, and the text that positions refer to; nothing for a text beyond GitHub's limit. */
export function readMarkdown(text: string): { readonly root: MarkdownRoot; readonly text: string } {
  const flat = text.length > maxLength ? '' : flatten(text);
  return { root: fromMarkdown(flat, { extensions: [unread] }), text: flat };
}

/** Without the characters that nobody sees: byte order mark, zero-width and bidirectional marks, soft hyphen. */
export function withoutInvisible(text: string): string {
  return text.replace(/[\uFEFF\u200B-\u200F\u2060-\u2064\u202A-\u202E\u2066-\u2069\u00AD\u180E]/gu, '');
}

/** Every block that is no quotation and stands in none, depth first in the order of the text. */
export function unquotedBlocks(root: MarkdownRoot): MarkdownNode[] {
  const found: MarkdownNode[] = [];
  const visit = (node: MarkdownRoot | MarkdownNode): void => {
    if (node.type === 'blockquote') return;
    if (node.type !== 'root') found.push(node);
    if (node.type !== 'root' && node.type !== 'list' && node.type !== 'listItem') return;
    for (const child of node.children) visit(child);
  };
  visit(root);
  return found;
}
