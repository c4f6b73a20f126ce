/** A `##` section of a contract's text. */
export interface ContractSection {
  readonly title: string;
  /** Below the heading, as written. */
  readonly text: string;
  /** 1-based line of the heading in contract.md. */
  readonly line: number;
}

/** The sections of a contract.md, its front matter left out; `###` stay inside theirs. */
export function listSections(page: string): ContractSection[] {
  const front = /^---\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/.exec(page)?.[0] ?? '';
  const firstLine = front.split('\n').length;
  const sections: { title: string; lines: string[]; line: number }[] = [];
  let isFenced = false;
  for (const [index, line] of page.slice(front.length).split('\n').entries()) {
    if (line.startsWith('```')) isFenced = !isFenced;
    const title = isFenced ? undefined : /^## +(.+)$/.exec(line)?.[1];
    if (title !== undefined) sections.push({ title: title.trim(), lines: [], line: firstLine + index });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ title, lines, line }) => ({ title, text: lines.join('\n'), line }));
}

/** The items of a list, which `·` divides; what divides them inside a fence stays. */
export function listItems(text: string): string[] {
  return text
    .split(/ · |\n- /)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
