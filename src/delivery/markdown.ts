/** A table of cells that are Markdown already, with no line break and no bare bar in them. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  alignRight: readonly number[] = [],
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, column) => (alignRight.includes(column) ? '--:' : '---'));
  return [line(head), `|${rule.join('|')}|`, ...rows.map(line)].join('\n');
}

/** Folded until the reader opens it. `summary` is plain text of ours. */
export function details(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;
}

/** Parts with a blank line between them; empty ones are left out. */
export function paragraphs(...parts: readonly (string | null | undefined | false)[]): string {
  return parts.filter((part): part is string => typeof part === 'string' && part !== '').join('\n\n');
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${value} ${value === 1 ? one : many}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listWords(words: readonly string[], last = 'and'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

export function link(text: string, url: string | null): string {
  return url === null ? text : `[${text}](${url})`;
}
