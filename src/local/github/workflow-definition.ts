import { parse } from 'yaml';
import { z } from 'zod';

const Input = z.object({
  required: z.boolean().optional(),
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
});
const Dispatch = z.object({ inputs: z.record(z.string(), Input.nullable()).nullish() });
const WorkflowFile = z.object({
  name: z.string().optional(),
  'run-name': z.string().optional(),
  on: z.union([z.string(), z.array(z.string()), z.record(z.string(), z.unknown())]),
  jobs: z.record(
    z.string(),
    z.object({ name: z.string().optional(), 'runs-on': z.union([z.string(), z.array(z.string())]) }),
  ),
});

/** The little of a workflow file that the stand-in knows; steps are nobody's business here. */
export interface WorkflowDefinition {
  readonly name: string | undefined;
  readonly runName: string | undefined;
  /** Undefined where the workflow cannot be dispatched. */
  readonly inputs:
    | Readonly<Record<string, { readonly required: boolean; readonly default: string }>>
    | undefined;
  readonly jobs: readonly { readonly name: string; readonly runsOn: string | readonly string[] }[];
}

/** @throws Error with a sentence about the file where it is no workflow */
export function parseWorkflow(text: string): WorkflowDefinition {
  const file = WorkflowFile.parse(parse(text));
  return {
    name: file.name,
    runName: file['run-name'],
    inputs: dispatchInputs(file.on),
    jobs: Object.entries(file.jobs).map(([key, job]) => ({ name: job.name ?? key, runsOn: job['runs-on'] })),
  };
}

function dispatchInputs(on: z.infer<typeof WorkflowFile>['on']): WorkflowDefinition['inputs'] {
  const names = typeof on === 'string' ? [on] : Array.isArray(on) ? on : Object.keys(on);
  if (!names.includes('workflow_dispatch')) return undefined;
  const trigger = typeof on === 'object' && !Array.isArray(on) ? on.workflow_dispatch : null;
  const inputs = Dispatch.parse(trigger ?? {}).inputs ?? {};
  return Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [
      name,
      {
        required: input?.required === true && input.default === undefined,
        default: String(input?.default ?? ''),
      },
    ]),
  );
}

/** `${{ inputs.x }}` filled in; any other expression stays as it is: the stand-in has no expression language. */
export function fillInputs(text: string, inputs: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{\{\s*inputs\.([\w-]+)\s*\}\}/g, (_, name: string) => inputs[name] ?? '');
}

/** Labels of a job; `${{ fromJSON(inputs.x) }}` is the one expression it may hold. Undefined where it is another. */
export function labelsOf(
  runsOn: string | readonly string[],
  inputs: Readonly<Record<string, string>>,
): readonly string[] | undefined {
  if (typeof runsOn !== 'string') return runsOn;
  const name = /^\$\{\{\s*fromJSON\(inputs\.([\w-]+)\)\s*\}\}$/.exec(runsOn)?.[1];
  if (name === undefined) return runsOn.includes('${{') ? undefined : [runsOn];
  try {
    const value: unknown = JSON.parse(inputs[name] ?? '');
    const labels = typeof value === 'string' ? [value] : value;
    return z.array(z.string()).min(1).parse(labels);
  } catch {
    return undefined;
  }
}
