import { z } from 'zod';
import { findFences } from './find-fences.ts';
import { quoteText } from './quote-text.ts';

export type JsonReading =
  | { readonly isRead: true; readonly value: unknown }
  | { readonly isRead: false; readonly message: string };

/** Compiles a JSON schema. @throws for a schema that is none: a fault of this program */
export function compileSchema(
  schema: Readonly<Record<string, unknown>>,
): (value: unknown) => string | undefined {
  const compiled = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  return (value) => {
    const checked = compiled.safeParse(value);
    if (checked.success) return undefined;
    const faults = checked.error.issues.slice(0, 3).map((issue) => {
      const place = issue.path.length === 0 ? 'the whole' : issue.path.join('.');
      return `${place}: ${messageOf(issue)}`;
    });
    return quoteText(faults.join('; '), 600);
  };
}

/** A union's own message says nothing; those of its branches do. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union') return issue.message;
  const branches = issue.errors.flatMap((branch) => branch.slice(0, 1).map(({ message }) => message));
  return branches.length === 0 ? issue.message : [...new Set(branches)].join(' or ');
}

/** The JSON value of an answer: the whole of it, one fenced block, or the only object among prose. */
export function parseJson(text: string, check: (value: unknown) => string | undefined): JsonReading {
  const values = jsonCandidates(text)
    .map(parseOrNothing)
    .filter((parsed) => parsed !== undefined);
  if (values.length === 0) return { isRead: false, message: 'There is no JSON value in the answer.' };
  const faults = values.map(({ value }) => check(value));
  const fitting = values.find((_, index) => faults[index] === undefined);
  if (fitting !== undefined) return { isRead: true, value: fitting.value };
  return { isRead: false, message: `The JSON value does not fit the schema: ${faults[0]}.` };
}

export function jsonCandidates(text: string): readonly string[] {
  const blocks = findFences(text).map((block) => block.text);
  const start = text.search(/[{[]/);
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  return [text, ...blocks, ...(start === -1 ? [] : [text.slice(start, end + 1)])];
}

export function parseOrNothing(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
