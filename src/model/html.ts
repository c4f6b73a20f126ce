/** Text that is markup already. Only `html` and `trustMarkup` make it, so whatever else is shown gets escaped. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/** Template tag: values are escaped, `Html` values are kept, lists are joined; null, undefined and false show nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(
    parts.map((part, index) => part + (index < values.length ? show(values[index]) : '')).join(''),
  );
}

/** Markup made elsewhere, by a renderer that escapes or sanitizes what it is given. */
export function trustMarkup(markup: string): Html {
  return new Html(markup);
}

/** Safe between tags and inside quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g, '\uFFFD');
}

function show(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(show).join('');
  return escapeHtml(String(value));
}
