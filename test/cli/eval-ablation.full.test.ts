import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { prepareEngine } from '../../src/preparation/prepare-engine.ts';
import { readConstraintFile, readRequest } from '../../src/preparation/read-request.ts';
import { CommandLine, waitForEnd } from '../fixtures/command-line.ts';
import { repliesFromKnowledge } from '../support/model-server/knowledge-replies.ts';
import { type ModelServer, startModelServer } from '../support/model-server/model-server.ts';

const cli = new CommandLine();
const file = join(packageRoot(), 'knowledge/examples/tiny-qwen3.yaml');
let server: ModelServer | undefined;
afterAll(async () => {
  await server?.close();
  cli.close();
});

it('an ablation that is killed in a run goes on with it: whole engines in two modes, no call paid twice', async () => {
  const catalog = await openKnowledge(cli.cache);
  const text = await readConstraintFile(file);
  const request = await readRequest(text, {
    fileName: file,
    origin: 'command-line',
    weightsRoot: undefined,
    catalog,
  });
  server = await startModelServer({
    replies: repliesFromKnowledge(prepareEngine(request, catalog).selection),
  });
  const folder = join(cli.folder, 'study');
  const args = ['eval', 'ablation', file, '--llm', server.baseUrl, '--repeats', '1', '-o', folder];
  const command = [...args, '--modes', 'zero-reference,knowledge-first'];

  const killed = cli.start(command);
  const end = waitForEnd(killed);
  await server.until((entry) => entry.contract === 'text.tokenizer');
  killed.kill('SIGKILL');
  expect((await end).code).toBeNull();

  const { code, stdout } = await cli.run(command);
  expect(code).toBe(0);
  expect(stdout).toContain('tiny-qwen3, zero-reference: 1 of 1 runs passed');
  expect(stdout).toContain('tiny-qwen3, knowledge-first: 1 of 1 runs passed, 0 model calls');
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
  expect(report).toMatchObject({ basis: 'no-real-model', finished: 2, planned: 2, comparisons: [] });
  expect(report.runs[0]).toMatchObject({ end: 'passed', sittings: 2 });
  // The call that was under way at the kill is asked again; every other one once.
  const asked = server.log.map(({ role, contract }) => JSON.stringify([role, contract]));
  expect(asked.length).toBeLessThanOrEqual(new Set(asked).size + 1);
});
