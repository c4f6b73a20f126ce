/** `npm run model-server -- …`: the test double as a program of its own. See test/support/README.md. */
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { prepareEngine } from '../../../src/preparation/prepare-engine.ts';
import { readConstraintFile, readRequest } from '../../../src/preparation/read-request.ts';
import { dropReplies } from './file-drop.ts';
import { repliesFromFolder } from './folder-replies.ts';
import { repliesFromKnowledge } from './knowledge-replies.ts';
import { startModelServer } from './model-server.ts';
import type { Replies } from './reply.ts';

const usage = `npm run model-server -- --drop DIR [--port N] [--timeout SECONDS]
npm run model-server -- --knowledge CONSTRAINTS.yaml [--replies DIR] [--port N]
npm run model-server -- --replies DIR [--port N]`;

const { values } = parseArgs({
  options: {
    drop: { type: 'string' },
    replies: { type: 'string' },
    knowledge: { type: 'string' },
    port: { type: 'string', default: '8642' },
    timeout: { type: 'string', default: '3600' },
  },
});
const replies = await chooseReplies();
if (replies === undefined) {
  console.error(usage);
  process.exit(2);
}
// People answer best what the prompt itself describes: files in fences, no schema beside it.
const endpoint = { structuredOutput: values.drop === undefined };
const server = await startModelServer({ replies, endpoint, port: Number(values.port) }).catch(
  (error: NodeJS.ErrnoException) => {
    console.error(
      `Port ${values.port} cannot be used (${error.code ?? error.message}): name another with --port.`,
    );
    process.exit(1);
  },
);
const place = values.drop === undefined ? '' : ` Questions come to ${values.drop}, answers are read there.`;
console.log(`A test double of a model listens at ${server.baseUrl} (model ${server.model}).${place}`);
process.once('SIGINT', () => void server.close());
process.once('SIGTERM', () => void server.close());

async function chooseReplies(): Promise<Replies | undefined> {
  if (values.drop !== undefined) {
    await mkdir(values.drop, { recursive: true });
    const onWaiting = (path: string) => console.log(`waiting for the answer to ${path}`);
    return dropReplies({ folder: values.drop, timeoutSeconds: Number(values.timeout), onWaiting });
  }
  const known = values.knowledge === undefined ? undefined : await answerFromKnowledge(values.knowledge);
  return values.replies === undefined ? known : repliesFromFolder(values.replies, known ?? declineToAnswer);
}

async function answerFromKnowledge(file: string): Promise<Replies> {
  const catalog = await openKnowledge(join(tmpdir(), 'metainfer-model-server'));
  const place = { fileName: file, origin: 'command-line', weightsRoot: undefined, catalog } as const;
  const request = await readRequest(await readConstraintFile(file), place);
  return repliesFromKnowledge(prepareEngine(request, catalog).selection);
}

function declineToAnswer(): { kind: 'refusal'; text: string } {
  return { kind: 'refusal', text: 'There is no reply for this contract.' };
}
