/** A fenced block of an answer. */
export interface FencedBlock {
  /** First word of the info line, in lower case; empty without one. */
  readonly language: string;
  /** As written in the info line or right above the block; undefined where nothing names it. */
  readonly path: string | undefined;
  readonly text: string;
  readonly isClosed: boolean;
}

const fence = /^ {0,3}(`{3,}|~{3,})\s*(.*?)\s*$/;

/** The blocks of a text in Markdown, in order. */
export function findFences(text: string): readonly FencedBlock[] {
  const lines = text.split('\n');
  const blocks: FencedBlock[] = [];
  let index = 0;
  while (index < lines.length) {
    const opening = fence.exec(lines[index]!);
    if (opening === null || (opening[1]!.startsWith('`') && opening[2]!.includes('`'))) {
      index += 1;
      continue;
    }
    const end = findEnd(lines, index + 1, opening[1]!);
    const info = opening[2]!;
    blocks.push({
      language: /^[A-Za-z+#-]*/.exec(info)![0].toLowerCase(),
      path: pathInInfo(info) ?? pathAbove(lines, index),
      text: lines.slice(index + 1, end ?? lines.length).join('\n'),
      isClosed: end !== undefined,
    });
    index = (end ?? lines.length) + 1;
  }
  return blocks;
}

function findEnd(lines: readonly string[], start: number, opening: string): number | undefined {
  const end = lines.findIndex((line, index) => {
    const closing = index >= start ? fence.exec(line) : null;
    return closing !== null && closing[2] === '' && closing[1]!.startsWith(opening);
  });
  return end === -1 ? undefined : end;
}

const fileName = /^[\w./\\-]+\.[A-Za-z]\w*$/;

/** `cpp path=a.cpp`, `cpp title="a.cpp"`, `cpp:a.cpp`, `cpp a.cpp`, `a.cpp`. */
function pathInInfo(info: string): string | undefined {
  const named = /\b(?:path|file|filename|title|name)\s*[=:]\s*(?:"([^"]+)"|'([^']+)'|`([^`]+)`|(\S+))/i.exec(
    info,
  );
  if (named !== null) return named.slice(1).find((part) => part !== undefined);
  return info
    .split(/[\s:{}]+/)
    .map((word) => word.replace(/^["'`]+|["'`]+$/g, ''))
    .find((word) => fileName.test(word));
}

/** `**a.cpp**`, `### a.cpp`, `File: a.cpp` or `` `a.cpp`: `` alone on the line above. */
function pathAbove(lines: readonly string[], opening: number): string | undefined {
  const above = lines.slice(Math.max(0, opening - 2), opening).filter((line) => line.trim() !== '');
  const bare = above
    .at(-1)
    ?.replace(/^[\s#>*`_-]+|[\s*`_:]+$/g, '')
    .replace(/^(?:file|path|filename)(?: name)?\s*:?\s*[*`_]*/i, '');
  return bare !== undefined && fileName.test(bare) ? bare : undefined;
}
