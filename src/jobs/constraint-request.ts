import { createHash } from 'node:crypto';
import { type ParsedConstraints, parseConstraints } from '../constraints/parse-constraints.ts';
import type { Request } from '../preparation/read-request.ts';
import { readRequest } from '../preparation/read-request.ts';
import type { AppContext } from './app-context.ts';

/** A constraint text as it came through GitHub, with what it means. Nothing is read from this machine's disk. */
export function parseFromGithub(context: AppContext, text: string): ParsedConstraints {
  return parseConstraints(text, {
    origin: 'github',
    catalogModels: context.catalog.models,
    catalogPlatforms: context.catalog.platforms,
  });
}

/**
 * Tells whether a text asks for something else than another: the constraint hash, or for a text with problems the hash
 * of its lines, so that an edit which changes nothing is answered with nothing.
 */
export function hashRequest(context: AppContext, text: string): string {
  const { sha256 } = parseFromGithub(context, text);
  if (sha256 !== undefined) return sha256;
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trimEnd());
  return createHash('sha256')
    .update(`unread\n${lines.join('\n').trim()}`)
    .digest('hex');
}

/** @throws AppError CONSTRAINTS_INVALID, NOT_COVERED, MODEL_UNKNOWN or MODEL_UNSUPPORTED */
export function acceptRequest(context: AppContext, text: string, fileName: string): Promise<Request> {
  return readRequest(text, {
    fileName,
    origin: 'github',
    weightsRoot: undefined,
    isElsewhere: true,
    catalog: context.catalog,
  });
}
