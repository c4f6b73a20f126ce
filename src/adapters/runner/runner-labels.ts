import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { AppError } from '../../model/errors.ts';

const Label = z.string().regex(/^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$/);
/** GitHub waits a day for a label that nobody serves: every job asks for a machine of its owner, never a hosted one. */
const Labels = z
  .array(Label)
  .min(2)
  .max(20)
  .refine((labels) => labels[0] === 'self-hosted', 'the first label must be self-hosted');
const RunnerLabelsFile = z.record(z.string(), z.record(z.string(), Labels));

/** Labels that a job needs, by platform and arch of the constraint file. */
export type RunnerLabels = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/**
 * Reads runner-config/labels.yaml.
 * @throws AppError SETTINGS_INVALID naming the place in the file
 */
export async function readRunnerLabels(path: string): Promise<RunnerLabels> {
  let value: unknown;
  try {
    value = parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new AppError('SETTINGS_INVALID', `${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const parsed = RunnerLabelsFile.safeParse(value);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `- ${issue.path.join('.')}: ${issue.message}`);
  throw new AppError(
    'SETTINGS_INVALID',
    `${path} must map platform → arch → list of labels:\n${lines.join('\n')}`,
  );
}

/** Labels for a platform and arch; undefined where the operator lists none. */
export function labelsFor(
  labels: RunnerLabels,
  platform: string,
  arch: string,
): readonly string[] | undefined {
  const arches = Object.hasOwn(labels, platform) ? labels[platform] : undefined;
  return arches !== undefined && Object.hasOwn(arches, arch) ? arches[arch] : undefined;
}
