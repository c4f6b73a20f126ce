import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../preparation/package-root.ts';

/** The model of the demo: the trained checkpoint that ships with this repository, as a runner's operator keeps it. */
export const demoModel = {
  id: 'metainfer/tiny-qwen3',
  folder: 'test/fixtures/checkpoints/tiny-qwen3',
} as const;

/** The shipped example as it is asked for through GitHub: by the model's id, never by a path. */
export async function readDemoConstraints(example = 'tiny-qwen3'): Promise<string> {
  const text = await readFile(join(packageRoot(), 'knowledge/examples', `${example}.yaml`), 'utf8');
  const withId = text.replace(/^ {2}path: .*$/m, `  id: ${demoModel.id}`);
  return withId.replace(/^(?:#.*\n)+/, '');
}

/** The body of an issue as the form "Engine request" makes it; browsers end its lines with CRLF. */
export function writeIssueBody(constraints: string): string {
  return [
    '### Constraint file',
    '',
    '```yaml',
    constraints.trimEnd(),
    '```',
    '',
    '### What is it for?',
    '',
    'A small model that runs on two cores, as a first look.',
    '',
  ]
    .join('\n')
    .replaceAll('\n', '\r\n');
}
