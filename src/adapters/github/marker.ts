import { createHash } from 'node:crypto';
import type { Once } from './repository-client.ts';

/** GitHub's cap for comments and for bodies of issues, pull requests and reviews, in characters. */
const bodyLimit = 65_536;

/** Only characters that can't end an HTML comment, which `--` can. */
function inert(text: string): string {
  return text.replace(/[^A-Za-z0-9:/._-]/g, '_').replace(/-{2,}/g, '-');
}

/** Hidden first line of what we write: how a write is found again after a crash. */
export function markerOf(once: Once): string {
  return `<!-- metainfer:${inert(once.key)} ${inert(once.scope)} -->`;
}

/** The body as it is sent: marker, text, and a last guard for GitHub's cap (texts are cut properly before). */
export function withMarker(once: Once, body: string): string {
  return cutText(`${markerOf(once)}\n${body}`, bodyLimit);
}

/** Whether a body on GitHub carries this write's marker. GitHub's web editor makes CRLF of line ends. */
export function hasMarker(body: string | null | undefined, once: Once): boolean {
  return body?.split(/\r?\n/, 1)[0] === markerOf(once);
}

/** At most `limit` UTF-16 units, never half of a surrogate pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  const isSplit = /[\uD800-\uDBFF]$/.test(cut);
  return `${isSplit ? cut.slice(0, -1) : cut}…`;
}

export function sha256Of(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
