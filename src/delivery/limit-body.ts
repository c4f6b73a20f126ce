/** GitHub refuses more than 65,536 characters; the rest is for the hidden marker. */
export const bodyLimit = 65_000;

interface Open {
  /** The fence that must be closed, or empty. */
  readonly fence: string;
  readonly details: number;
}

const nothingOpen: Open = { fence: '', details: 0 };

/** What is still open after one more line. */
function follow(open: Open, line: string): Open {
  const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  if (open.fence !== '') {
    const closes =
      fence !== null &&
      fence[1]![0] === open.fence[0] &&
      fence[1]!.length >= open.fence.length &&
      fence[2]!.trim() === '';
    return closes ? { ...open, fence: '' } : open;
  }
  if (fence !== null && !(fence[1]!.startsWith('`') && fence[2]!.includes('`'))) {
    return { ...open, fence: fence[1]! };
  }
  const opened = line.match(/<details\b/g)?.length ?? 0;
  const closed = line.match(/<\/details>/g)?.length ?? 0;
  return { ...open, details: Math.max(0, open.details + opened - closed) };
}

function closers(open: Open): string {
  return `${open.fence === '' ? '' : `\n${open.fence}`}${'\n\n</details>'.repeat(open.details)}`;
}

interface Cut {
  readonly end: number;
  readonly open: Open;
}

/** The last end of a paragraph outside fences, and the last end of a line, that leave room for what must be closed. */
function findCuts(body: string, room: number): { paragraph: Cut | undefined; line: Cut } {
  let open = nothingOpen;
  let end = 0;
  let paragraph: Cut | undefined;
  let line: Cut = { end: 0, open };
  for (const text of body.split('\n')) {
    const before = open;
    open = follow(open, text);
    if (text.trim() === '' && before.fence === '') paragraph = { end: Math.max(0, end - 1), open: before };
    end += text.length + 1;
    if (end - 1 + closers(open).length > room) break;
    line = { end: end - 1, open };
  }
  return { paragraph, line };
}

/** Not through a surrogate pair. */
function cutInside(text: string, length: number): string {
  const cut = text.slice(0, length);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/**
 * A body of at most `limit` characters. A longer one ends after a paragraph outside code where that costs less than half
 * of it, else after a line; what was open is closed, and `note` says that there is more.
 */
export function limitBody(body: string, note: string, limit = bodyLimit): string {
  if (body.length <= limit) return body;
  const tail = `\n\n${note}`;
  const room = limit - tail.length;
  const { paragraph, line } = findCuts(body, room);
  const cut = paragraph !== undefined && paragraph.end >= room / 2 ? paragraph : line;
  if (cut.end > 0) return `${body.slice(0, cut.end)}${closers(cut.open)}${tail}`;
  return `${cutInside(body, room)}${tail}`;
}

/** As `limitBody`, for what GitHub counts in bytes of UTF-8: summary and text of a check. */
export function limitBytes(body: string, note: string): string {
  let limited = limitBody(body, note);
  for (let limit = bodyLimit; Buffer.byteLength(limited) > bodyLimit; ) {
    limit = Math.floor((limit * bodyLimit) / Buffer.byteLength(limited)) - 100;
    limited = limitBody(body, note, limit);
  }
  return limited;
}
