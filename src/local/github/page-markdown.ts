import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import sanitizeHtml from 'sanitize-html';
import { type Html, html, trustMarkup } from '../../model/html.ts';

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

/** GitHub's Markdown, nearly: tables, task lists, raw HTML of the harmless kind; comments vanish. */
export function showMarkdown(text: string | null): Html {
  if (text === null || text.trim() === '') return html`<p class="soft">No description.</p>`;
  const options = { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true };
  return html`<div class="markdown">${trustMarkup(sanitizeHtml(micromark(text, options), allowed))}</div>`;
}
