import { z } from 'zod';
import { checkConclusions } from './conversation-data.ts';
import { invalidRequest, parseBody, validationFailed } from './request-body.ts';
import type { RequestContext } from './router.ts';

/** GitHub's limits of a check run; longer texts and lists answer 422. */
const maxAnnotations = 50;
const maxTextLength = 65_535;
const maxTitleLength = 255;
const maxMessageBytes = 65_536;

const annotationSchema = z.object({
  path: z.string(),
  start_line: z.number().int(),
  end_line: z.number().int(),
  start_column: z.number().int().optional(),
  end_column: z.number().int().optional(),
  annotation_level: z.enum(['notice', 'warning', 'failure']),
  title: z.string().max(maxTitleLength).optional(),
  message: z.string(),
  raw_details: z.string().optional(),
});

const outputSchema = z.object({
  title: z.string().max(maxTitleLength),
  summary: z.string().max(maxTextLength),
  text: z.string().max(maxTextLength).optional(),
  annotations: z.array(annotationSchema).max(maxAnnotations).optional(),
});

const actionSchema = z.object({
  label: z.string().max(20),
  description: z.string().max(40),
  identifier: z.string().max(20),
});

const commonFields = {
  details_url: z.string().optional(),
  external_id: z.string().optional(),
  status: z.enum(['queued', 'in_progress', 'completed', 'waiting', 'requested', 'pending']).optional(),
  conclusion: z.enum(checkConclusions).optional(),
  started_at: z.string().optional(),
  completed_at: z.string().optional(),
  actions: z.array(actionSchema).max(3).optional(),
};

const newCheckSchema = z.object({
  name: z.string(),
  head_sha: z.string(),
  ...commonFields,
  output: outputSchema.optional(),
});

const checkPatchSchema = z.object({
  name: z.string().optional(),
  ...commonFields,
  // An update may leave the title as it is.
  output: outputSchema.partial({ title: true }).optional(),
});

export type NewCheck = z.infer<typeof newCheckSchema>;
export type CheckPatch = z.infer<typeof checkPatchSchema>;

/** @throws GitHubError 422 with GitHub's words */
export function readNewCheck(context: RequestContext): NewCheck {
  const check = parseBody(context, newCheckSchema);
  checkBeyondSchema(check);
  return check;
}

/** @throws GitHubError 422 with GitHub's words */
export function readCheckPatch(context: RequestContext): CheckPatch {
  const patch = parseBody(context, checkPatchSchema);
  checkBeyondSchema(patch);
  return patch;
}

function checkBeyondSchema(check: NewCheck | CheckPatch): void {
  if ((check.status === 'completed' || check.completed_at !== undefined) && check.conclusion === undefined) {
    throw invalidRequest(['"conclusion" wasn\'t supplied.']);
  }
  for (const time of [check.started_at, check.completed_at]) {
    if (time !== undefined && Number.isNaN(Date.parse(time))) {
      throw invalidRequest([`${JSON.stringify(time)} is not a valid date-time.`]);
    }
  }
  if (check.output !== undefined) checkOutput(check.output);
}

/** The schema counts characters, GitHub's database bytes. */
function checkOutput(output: NonNullable<CheckPatch['output']>): void {
  for (const field of ['summary', 'text'] as const) {
    if (Buffer.byteLength(output[field] ?? '') > maxTextLength) {
      const message = `${field} exceeds a maximum bytesize of ${maxTextLength}`;
      throw validationFailed({ resource: 'CheckRun', code: 'custom', field, message });
    }
  }
  for (const annotation of output.annotations ?? []) {
    const invalid = (field: string, message: string) =>
      validationFailed({ resource: 'CheckAnnotation', code: 'custom', field, message });
    if (Buffer.byteLength(annotation.message) > maxMessageBytes) {
      throw invalid('message', 'message exceeds a maximum bytesize of 65536');
    }
    if (annotation.end_line < annotation.start_line) {
      throw invalid('end_line', 'end_line must be greater than or equal to start_line');
    }
    const hasColumns = annotation.start_column !== undefined || annotation.end_column !== undefined;
    if (hasColumns && annotation.start_line !== annotation.end_line) {
      throw invalid('start_column', 'start_column and end_column need start_line and end_line to be equal');
    }
  }
}
