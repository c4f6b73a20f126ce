/** Shown instead of text that was left out. */
const ellipsis = '…';

/** Not on any keyboard and able to turn a line around or to hide in it: shown as what they are. */
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function showUnseen(text: string): string {
  return text.replace(unseen, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}

/** Text as it may stand in a code block: one kind of line end, nothing unseen, no half of a surrogate pair. */
function cleanLines(text: string): string {
  // Terminal colours are noise here, not an attack.
  const plain = text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, '').replace(/\r\n?/g, '\n');
  return showUnseen(plain.replace(/\p{Cs}/gu, '\ufffd'));
}

/** At most `length` UTF-16 units, an ellipsis for the rest; never half of a surrogate pair. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, Math.max(0, length - 1));
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}${ellipsis}`;
}

/**
 * Text of unknown origin as one line of Markdown that shows exactly that text: no markup, HTML, images or links,
 * nobody mentioned, no issue referenced or closed.
 */
export function inlineText(text: string, length = 600): string {
  const line = shorten(cleanLines(text).replace(/\s+/g, ' ').trim(), length);
  return (
    line
      .replace(/[\\`*[\]|~!$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
      .replace(/&/g, '&amp;')
      // Before anything else, as in `< 5`, it opens neither a tag nor a link.
      .replace(/<(?=[A-Za-z/!?]|$)/g, '&lt;')
      // A backslash does not keep GitHub from seeing a reference, a mention or an address; a zero-width space does.
      .replace(/#(?=\d)/g, '#&#8203;')
      .replace(/@(?=[\w-])/g, '@&#8203;')
      .replace(/(GH-)(?=\d)/gi, '$1&#8203;')
      .replace(/(https?|ftp|xmpp|mailto):/gi, '$1&#8203;:')
      .replace(/(www)\./gi, '$1&#8203;.')
      // What would begin a list, a quote, a heading or a rule.
      .replace(/^(?:[-+>=]|#+(?=\s|$)|\d+(?=[.)]))/, '&#8203;$&')
  );
}

/** The fence or span that no run of backticks in the text can close. */
function backticksBeyond(text: string, least: number): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  return '`'.repeat(Math.max(least, longest + 1));
}

/** Text of unknown origin as inline code. In a table cell a bar needs a backslash even inside code. */
export function codeSpan(text: string, place: 'text' | 'cell' = 'text', length = 200): string {
  const line = shorten(cleanLines(text).replace(/\s+/g, ' ').trim(), length);
  if (line === '') return '` `';
  const shown = place === 'cell' ? line.replace(/(\\)?\|/g, (_, slash) => (slash ? '\\ \\|' : '\\|')) : line;
  const ticks = backticksBeyond(shown, 1);
  const gap = shown.startsWith('`') || shown.endsWith('`') ? ' ' : '';
  return `${ticks}${gap}${shown}${gap}${ticks}`;
}

/** Text of unknown origin as a fenced block. `language` is ours. */
export function codeBlock(text: string, language = ''): string {
  const body = cleanLines(text).replace(/\n+$/, '');
  const fence = backticksBeyond(body, 3);
  return `${fence}${language}\n${body}\n${fence}`;
}

/** A message of this program, which may quote others: `code` stays code, everything else is shown as it is. */
export function messageText(message: string, length = 1000): string {
  const parts = shorten(message.replace(/\s+/g, ' ').trim(), length).split(/`([^`]+)`/);
  return parts
    .map((part, index) => {
      if (index % 2 === 1) return codeSpan(part);
      // inlineText trims; the blanks between prose and code are part of the sentence.
      const inner = inlineText(part, length);
      return `${/^\s/.test(part) ? ' ' : ''}${inner}${/\s$/.test(part) && inner !== '' ? ' ' : ''}`;
    })
    .join('');
}

/** The same for several lines: lines that begin with a dash stay a list. */
export function messageLines(message: string, maxLines = 30): string {
  const lines = message.split(/\r\n?|\n/).filter((line) => line.trim() !== '');
  const shown = lines
    .slice(0, maxLines)
    .map((line) =>
      line.trimStart().startsWith('- ') ? `- ${messageText(line.trimStart().slice(2))}` : messageText(line),
    );
  const rest = lines.length - shown.length;
  const all = rest > 0 ? [...shown, `- … and ${rest} more`] : shown;
  return all.reduce((text, line, index) => {
    if (index === 0) return line;
    const isList = line.startsWith('- ') && all[index - 1]!.startsWith('- ');
    return `${text}${isList ? '\n' : '\n\n'}${line}`;
  }, '');
}
