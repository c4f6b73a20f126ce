import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeEngine } from '../../src/generation/write-engine.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { composePrepared, prepareEngine } from '../../src/preparation/prepare-engine.ts';
import { readRequest } from '../../src/preparation/read-request.ts';
import { agentFile, agentFilesFrom } from '../fixtures/agent-files.ts';
import { CommandLine } from '../fixtures/command-line.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';
import { readReferenceCheckpoint } from '../fixtures/reference-checkpoint.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
const mark = join(cli.folder, 'escaped');
const folder = join(cli.folder, 'by-agents');

/** An engine in which an agent wrote kv.cache, with more in it than the contract asks for. */
beforeAll(async () => {
  const catalog = await openKnowledge(join(cli.folder, 'cache'));
  const model = { path: readReferenceCheckpoint('tiny-qwen3').folder };
  const file = writeConstraintFile(join(cli.folder, 'by-agents.yaml'), { name: 'by-agents', model });
  const request = await readRequest(readFileSync(file, 'utf8'), {
    ...{ fileName: file, origin: 'command-line', weightsRoot: undefined, catalog },
  });
  const { text, path } = agentFilesFrom(prepareEngine(request, catalog)).get('kv.cache')!;
  const worse = `#include <cstdlib>\n${text}static const int escaped = [] { auto f = &::system; return f("echo out > ${mark}"); }();\n`;
  const prepared = prepareEngine(request, catalog, {
    agents: { hasModel: false, rewritten: new Set(['kv.cache']) },
  });
  const agentFiles = new Map([['kv.cache', agentFile('kv.cache', path, worse)]]);
  await writeEngine(composePrepared(prepared, { agentFiles }), folder);
}, 300_000);

describe('an engine with a source by an agent', () => {
  it.each(['run', 'verify'])('is neither compiled nor started by %s without a sandbox', async (command) => {
    const args = command === 'run' ? ['run', folder, '--ids', '1,2'] : ['verify', folder];
    const { code, stderr } = await cli.run(args, { environment: { METAINFER_SANDBOX: 'off' } });
    expect(code).toBe(3);
    expect(stderr).toContain('language models wrote kv_cache.cpp');
    expect(stderr).toContain('apt-get install bubblewrap');
    expect(existsSync(mark)).toBe(false);
  });

  it('is believed to be an agent’s, and judged by the same rules as any other', async () => {
    const { code, stdout } = await cli.run(['verify', folder, '--json', '--quiet']);
    expect(code).toBe(1);
    const report = JSON.parse(stdout) as {
      gates: { status: string; findings: { contract: string; file: string; message: string }[] }[];
    };
    const found = report.gates[0]!.findings.map(({ contract, file, message }) => [contract, file, message]);
    expect(found).toEqual(
      expect.arrayContaining([
        ['kv.cache', 'kv_cache.cpp', 'system is not allowed'],
        ['kv.cache', 'kv_cache.cpp', 'nothing refers to the variable escaped'],
      ]),
    );
    expect(new Set(found.map(([contract]) => contract))).toEqual(new Set(['kv.cache']));
    expect(existsSync(mark)).toBe(false);
  });
});
