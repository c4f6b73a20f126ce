import type { z } from 'zod';
import { bodyOf, GitHubError, type RequestContext } from './router.ts';

/**
 * The request's JSON object as a schema reads it; keys that the schema doesn't name are dropped, as GitHub drops them.
 * @throws GitHubError 422 "Invalid request." with GitHub's sentences about each problem
 */
export function parseBody<Schema extends z.ZodType>(
  context: RequestContext,
  schema: Schema,
): z.infer<Schema> {
  const body = bodyOf(context);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw invalidRequest(sentencesOf(body, parsed.error.issues));
}

/** GitHub's answer to a body that breaks the published schema. */
export function invalidRequest(sentences: readonly string[]): GitHubError {
  return new GitHubError(422, `Invalid request.\n\n${sentences.join('\n')}`);
}

export interface FieldProblem {
  readonly resource: string;
  readonly code: 'missing_field' | 'invalid' | 'custom' | 'unprocessable' | 'already_exists';
  readonly field?: string;
  readonly message?: string;
}

/** GitHub's answer to a body that fits the schema but not the world. */
export function validationFailed(...problems: readonly FieldProblem[]): GitHubError {
  return new GitHubError(422, 'Validation Failed', problems);
}

/** GitHub's limit for every body of an issue, pull request, review or comment, in code points. */
export const maxBodyLength = 65_536;

/** Whether a text is longer than GitHub stores. */
export function isTooLong(text: string, limit = maxBodyLength): boolean {
  // The code units are an upper bound of the code points: only long texts need the count.
  return text.length > limit && [...text].length > limit;
}

function sentencesOf(body: unknown, issues: readonly z.core.$ZodIssue[]): string[] {
  const missing: string[] = [];
  const sentences: string[] = [];
  for (const issue of issues) {
    const value = valueAt(body, issue.path);
    if (value === undefined) missing.push(`"${String(issue.path.at(-1))}"`);
    else sentences.push(sentenceOf(issue, value));
  }
  if (missing.length === 1) sentences.unshift(`${missing[0]} wasn't supplied.`);
  if (missing.length > 1) sentences.unshift(`${missing.join(', ')} weren't supplied.`);
  return sentences;
}

function sentenceOf(issue: z.core.$ZodIssue, value: unknown): string {
  const place = `properties/${issue.path.join('/')}`;
  switch (issue.code) {
    case 'too_big':
      return Array.isArray(value)
        ? `No more than ${issue.maximum} items are allowed; ${value.length} were supplied.`
        : `Only ${issue.maximum} characters are allowed; ${[...String(value)].length} were supplied.`;
    case 'invalid_value':
      return `${JSON.stringify(value)} is not a possible value. Must be one of the following: ${issue.values.join(', ')}.`;
    case 'invalid_type':
      return `For '${place}', ${value === null ? 'nil' : JSON.stringify(value)} is not ${withArticle(issue.expected)}.`;
    default:
      return `For '${place}', ${JSON.stringify(value)} is not valid.`;
  }
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
