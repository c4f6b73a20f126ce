/**
 * contract.md with one more statement at the end of its Edges, and the next minor version: what a contract newly states
 * is behaviour made clear. Everything else stays byte for byte.
 */
export function clarifyContract(page: string, statement: string): string {
  if (page.includes(statement)) return page;
  return addEdge(
    page.replace(/^version: .*$/m, (line) => raiseMinor(line)),
    statement,
  );
}

/** `version: 1.2.3` → `version: 1.3.0`, whatever stands behind it. */
export function raiseMinor(line: string): string {
  return line.replace(
    /(\d+)\.(\d+)\.(\d+)/,
    (_, major: string, minor: string) => `${major}.${Number(minor) + 1}.0`,
  );
}

function addEdge(page: string, statement: string): string {
  const section = /^## Edges[^\n]*\n([\s\S]*?)(?=\n+## |\n*$(?![\s\S]))/m.exec(page);
  if (section === null) return `${page.trimEnd()}\n\n## Edges\n${statement}\n`;
  const end = section.index + section[0].length;
  const text = section[1]!.trim();
  // Edges are one line of statements with dots between them, or a list.
  const isLine = text.includes(' · ') && !text.includes('\n');
  const joint = isLine ? ' · ' : /^- /m.test(text) ? '\n- ' : text === '' ? '' : '\n\n';
  return `${page.slice(0, end)}${joint}${isLine ? statement.replaceAll(' · ', ', ') : statement}${page.slice(end)}`;
}
