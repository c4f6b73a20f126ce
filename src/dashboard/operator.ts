import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Whether a request carries the operator's token: as the password of Basic (what a browser sends after /sign-in) or as
 * a Bearer token. Without a token configured nobody is the operator.
 */
export function isOperator(request: Pick<IncomingMessage, 'headers'>, token: string | undefined): boolean {
  const given = readToken(request.headers.authorization ?? '');
  if (token === undefined || token === '' || given === undefined) return false;
  return timingSafeEqual(digest(given), digest(token));
}

function readToken(header: string): string | undefined {
  const [, scheme, value] = /^(basic|bearer) +(\S+) *$/i.exec(header) ?? [];
  if (scheme === undefined || value === undefined) return undefined;
  if (scheme.toLowerCase() === 'bearer') return value;
  const pair = Buffer.from(value, 'base64').toString('utf8');
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : undefined;
}

/** Digests have one length, which timingSafeEqual asks for. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
