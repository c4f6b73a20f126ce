import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import sanitizeHtml from 'sanitize-html';
import { escapeHtml, type Html, html, trustMarkup } from '../../model/html.ts';

const allowed: sanitizeHtml.IOptions = {
  allowedTags: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote', 'pre', 'code', 'kbd', 'samp'],
    ...['ul', 'ol', 'li', 'input', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'details', 'summary'],
    ...['a', 'img', 'strong', 'b', 'em', 'i', 'del', 's', 'sub', 'sup', 'div', 'span', 'picture', 'source'],
  ],
  allowedAttributes: {
    a: ['href', 'title'],
    img: ['src', 'alt', 'title', 'width', 'height'],
    source: ['srcset', 'media'],
    input: [{ name: 'type', values: ['checkbox'] }, 'checked', 'disabled'],
    details: ['open'],
    code: [{ name: 'class', multiple: false, values: ['language-mermaid', 'language-suggestion'] }],
    th: ['align'],
    td: ['align'],
    ol: ['start'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
};

/** Elements whose text is left as it is. */
const literal = new Set(['code', 'pre', 'a', 'kbd', 'samp']);

/**
 * GitHub's Markdown, nearly: tables, task lists, raw HTML of the harmless kind, `#12` as a link; comments vanish.
 * `repositoryUrl` is the page of the repository that the text stands in.
 */
export function showMarkdown(text: string | null, repositoryUrl: string): Html {
  if (text === null || text.trim() === '') return html`<p class="soft">No description.</p>`;
  const markup = micromark(text, {
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
    allowDangerousHtml: true,
  });
  const clean = sanitizeHtml(markup, {
    ...allowed,
    // Gets escaped text and gives markup.
    textFilter: (part, tag) => (literal.has(tag) ? part : linkNumbers(part, repositoryUrl)),
  });
  return html`<div class="markdown">${trustMarkup(clean)}</div>`;
}

function linkNumbers(text: string, repositoryUrl: string): string {
  return text.replace(
    /(^|[\s(])#(\d{1,9})\b/g,
    (_, before: string, number: string) =>
      `${before}<a href="${escapeHtml(repositoryUrl)}/issues/${number}">#${number}</a>`,
  );
}
