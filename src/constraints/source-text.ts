import type { Problem } from '../model/problem.ts';

const maxBytes = 65_536;
/** Byte order mark, zero-width and bidirectional marks, soft hyphen: nobody sees them, and YAML keeps them inside keys. */
const invisible = /[\uFEFF\u200B-\u200F\u2060-\u2064\u202A-\u202E\u2066-\u2069\u00AD\u180E]/gu;
/** Spaces that look like one and are none for YAML, and line separators that YAML 1.2 takes for letters. */
const oddSpace = /[\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000\u2028\u2029\u0085\u000B\u000C]/gu;

/**
 * Repairs what editors, web forms and office programs do to a text without anybody seeing it. Every repair but
 * that of line ends and of a leading byte order mark gives a warning with its place.
 */
export function normaliseText(text: string): { text: string; problems: Problem[] } {
  const size = text.length > maxBytes ? text.length : Buffer.byteLength(text, 'utf8');
  if (size > maxBytes) {
    const message = `The file is ${size > text.length ? '' : 'at least '}${size} bytes; a constraint file has at most ${maxBytes}.`;
    return { text: '', problems: [{ severity: 'error', code: 'file-too-large', message }] };
  }
  const problems: Problem[] = [];
  const withoutMark = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const lines = withoutMark.replace(/\r\n?/g, '\n').split('\n');
  const repaired = lines.map((line, index) => repairLine(line, index + 1, problems));
  return { text: repaired.join('\n'), problems };
}

function repairLine(line: string, number: number, problems: Problem[]): string {
  const hidden = line.search(invisible);
  if (hidden >= 0) problems.push(warning(line, number, hidden, 'invisible-character', 'removed'));
  const visible = line.replace(invisible, '');
  const space = visible.search(oddSpace);
  if (space >= 0) problems.push(warning(visible, number, space, 'odd-space', 'read as an ordinary space'));
  return visible.replace(oddSpace, ' ');
}

const characterNames: Readonly<Record<string, string>> = {
  '\uFEFF': 'byte order mark',
  '\u200B': 'zero-width space',
  '\u00A0': 'non-breaking space',
  '\u00AD': 'soft hyphen',
};

function warning(line: string, number: number, index: number, code: string, what: string): Problem {
  const character = line[index]!;
  const hexadecimal = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  const name =
    characterNames[character] ??
    (code === 'odd-space' ? 'character that only looks like a space' : 'character that cannot be seen');
  const message = `found a ${name} (U+${hexadecimal}); it was ${what}.`;
  return { severity: 'warning', code, line: number, column: index + 1, message };
}
