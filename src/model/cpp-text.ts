/**
 * The source with every comment, string literal and character literal replaced by spaces; line breaks stay, so
 * offsets and line numbers are those of the original. Understands raw strings and digit separators.
 */
export function stripCommentsAndStrings(source: string): string {
  let out = '';
  let at = 0;
  while (at < source.length) {
    const end = endOfUntouchable(source, at);
    if (end === at) {
      out += source[at];
      at++;
    } else {
      out += source.slice(at, end).replace(/[^\n]/g, ' ');
      at = end;
    }
  }
  return out;
}

/** Where the comment or literal that begins at `at` ends; `at` itself where none begins. */
function endOfUntouchable(source: string, at: number): number {
  if (source.startsWith('//', at)) return endOfLine(source, at);
  if (source.startsWith('/*', at)) return after(source, '*/', at + 2);
  const raw = /^R"([^()\\\s]{0,16})\(/.exec(source.slice(at, at + 20));
  if (raw !== null && !/\w/.test(source[at - 1] ?? ''))
    return after(source, `)${raw[1]}"`, at + raw[0].length);
  if (source[at] === '"') return endOfQuoted(source, at, '"');
  if (source[at] === "'" && !/[0-9a-fA-F]/.test(source[at - 1] ?? '')) return endOfQuoted(source, at, "'");
  return at;
}

function endOfLine(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end === -1 ? source.length : end;
}

function after(source: string, closing: string, from: number): number {
  const end = source.indexOf(closing, from);
  return end === -1 ? source.length : end + closing.length;
}

function endOfQuoted(source: string, at: number, quote: string): number {
  for (let index = at + 1; index < source.length; index++) {
    if (source[index] === '\\') index++;
    else if (source[index] === quote) return index + 1;
    else if (source[index] === '\n') return index;
  }
  return source.length;
}
