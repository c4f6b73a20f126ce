import { type Html, type HtmlValue, html } from '../model/html.ts';

/** Seconds after which the page of a run that moves loads again. */
export const reloadSeconds = 10;

/** A whole document. The title is plain text; `isMoving` lets the page load again by itself. */
export function framePage(
  title: string,
  content: HtmlValue,
  options: { readonly isMoving: boolean },
): string {
  const reload = options.isMoving && html`<meta http-equiv="refresh" content="${reloadSeconds}">`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${reload}
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><strong><a href="/runs">MetaInfer</a></strong> <nav><a href="/runs">Runs</a> <a href="/knowledge">Knowledge</a></nav></header>
<main>
${content}
</main>
</body>
</html>
`;
  return page.markup;
}

/** One column of a table; `figure` is set to the right. */
export interface Column {
  readonly head: string;
  readonly isFigure?: boolean;
}

/** A table that becomes a list of cards on a narrow screen: the first cell heads the card. */
export function showTable(columns: readonly Column[], rows: readonly (readonly HtmlValue[])[]): Html {
  const kind = (column: Column | undefined) => column?.isFigure === true && html` class="figure"`;
  return html`<div class="scroll"><table class="cards"><thead><tr>${columns.map((column) => html`<th scope="col"${kind(column)}>${column.head}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) => html`<tr>${row.map((cell, index) => {
      const label = html` data-head="${columns[index]?.head}"`;
      return html`<td${kind(columns[index])}${label}>${cell}</td>`;
    })}</tr>
`,
  )}</tbody></table></div>`;
}

/** A link, where the address is one of the web; else the text alone. */
export function showLink(url: string | null | undefined, text: HtmlValue): Html {
  return url != null && /^https?:\/\/[^\s]+$/.test(url) ? html`<a href="${url}">${text}</a>` : html`${text}`;
}

/** Plain text with `code` in backticks set as code. */
export function showProse(text: string): Html {
  return html`${text.split(/(`[^`\n]+`)/).map((part) => (/^`.+`$/.test(part) ? html`<code>${part.slice(1, -1)}</code>` : part))}`;
}
