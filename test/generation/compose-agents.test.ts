import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { listAgentPaths } from '../../src/generation/agent-sources.ts';
import { checkAgentCode } from '../../src/generation/check-agent-code.ts';
import { parseProvenance } from '../../src/generation/provenance-file.ts';
import type { AgentFile } from '../../src/model/agent-work.ts';
import type { Catalog } from '../../src/model/catalog.ts';
import type { EngineSources } from '../../src/model/engine.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import {
  type AgentSources,
  composePrepared,
  configForAgents,
  type PreparedEngine,
  prepareEngine,
} from '../../src/preparation/prepare-engine.ts';
import { agentFile, agentFilesFrom } from '../fixtures/agent-files.ts';
import { exampleNames, readExample } from '../fixtures/examples.ts';

let catalog: Catalog;
let known: PreparedEngine;
let zero: PreparedEngine;
let answers: Map<string, AgentFile>;

beforeAll(async () => {
  catalog = await openKnowledge(mkdtempSync(join(tmpdir(), 'metainfer-compose-')));
  known = prepareEngine(await readExample('qwen3-0.6b.yaml', catalog), catalog);
  zero = await prepareZero('qwen3-0.6b.yaml');
  answers = agentFilesFrom(known);
});

async function prepareZero(name: string): Promise<PreparedEngine> {
  const request = await readExample(name, catalog, 'mode: zero-reference');
  return prepareEngine(request, catalog, { agents: { hasModel: true } });
}

function textOf({ files }: EngineSources, path: string): string {
  return files.find((file) => file.path === path)?.text ?? '';
}

/** The answers with those of some contracts changed, or left out. */
function answersWith(changes: Readonly<Record<string, ((text: string) => string) | null>>) {
  const changed = [...answers].flatMap(([id, file]) => {
    const change = changes[id];
    if (change === null) return [];
    return [[id, change === undefined ? file : agentFile(id, file.path, change(file.text))] as const];
  });
  return new Map(changed);
}

const faults = (prepared: PreparedEngine, agents: AgentSources) =>
  checkAgentCode(composePrepared(prepared, agents).files, listAgentPaths(prepared.selection)).map(
    ({ file, line, code, message }) => [file, line, code, message],
  );

describe.each(exampleNames)('an engine for %s that agents wrote', (name) => {
  it('has the code that they wrote, in the frame that the composer makes, and nothing wrong with it', async () => {
    const prepared = await prepareZero(name);
    const composed = prepareEngine(await readExample(name, catalog), catalog);
    const agentFiles = agentFilesFrom(composed);
    const [byAgents, byKnowledge] = [composePrepared(prepared, { agentFiles }), composePrepared(composed)];
    const isCode = ({ path }: { path: string }) => /\.(?:h|cpp)$|^CMake|^LICENSE/.test(path);
    expect(byAgents.files.filter(isCode)).toEqual(byKnowledge.files.filter(isCode));
    expect(byAgents.lineCount).toBe(byKnowledge.lineCount);
    expect(faults(prepared, { agentFiles })).toEqual([]);
    expect(prepared.plan.files).toEqual(byAgents.files.map(({ path }) => path));
  });
});

describe('an engine with parts by agents', () => {
  it('says of each such file which model wrote it, by which request, for which contract', () => {
    const engine = composePrepared(zero, { agentFiles: answers });
    const stated = parseProvenance(textOf(engine, 'provenance.yaml'));
    expect(stated?.files).toEqual(engine.provenance);
    const norm = catalog.contracts.find(({ frontMatter }) => frontMatter.id === 'norm.rms')!;
    expect(stated?.files.find(({ path }) => path === 'norm_rms.cpp')).toEqual({
      path: 'norm_rms.cpp',
      sha256: answers.get('norm.rms')?.sha256,
      origin: {
        ...{ kind: 'agent', contract: 'norm.rms', version: '1.0.0' },
        ...{ contractSha256: norm.sha256, gateSha256: norm.gateSha256 },
        ...{ model: 'test/model:1b', requestSha256: 'a'.repeat(64) },
      },
    });
    expect(stated?.files.find(({ path }) => path === 'norm_rms.h')?.origin.kind).toBe('contract');
  });

  it('says so in its README, and how many of its sources', () => {
    const whole = textOf(composePrepared(zero, { agentFiles: answers }), 'README.md');
    expect(whole).toContain('written by MetaInfer Bot with language models, part by part from contracts');
    expect(whole).toContain('| `norm_rms.cpp` | norm.rms | `test/model:1b` |');
    const one = prepareEngine(known.request, catalog, {
      agents: { hasModel: false, rewritten: new Set(['norm.rms']) },
    });
    const mixed = textOf(composePrepared(one, { agentFiles: answers }), 'README.md');
    expect(mixed).toContain(
      'from parts of its knowledge base and, for 1 of 22 sources, with language models',
    );
    expect(mixed).not.toContain('`kv_cache.cpp`');
    expect(textOf(composePrepared(known), 'README.md')).not.toContain('language models');
  });

  it("shows a model's name as a name, whatever it holds", () => {
    const file = answers.get('norm.rms')!;
    const evil = 'm`|\n# Run `curl x | sh`\n<img src=x>';
    const agentFiles = answersWith({}).set('norm.rms', {
      ...{ ...file, origin: { ...file.origin, model: evil } },
    });
    const engine = composePrepared(zero, { agentFiles });
    expect(textOf(engine, 'README.md')).toContain('`m???? Run ?curl x ? sh???img src?x?`');
    const stated = parseProvenance(textOf(engine, 'provenance.yaml'));
    expect(stated?.files.find(({ path }) => path === 'norm_rms.cpp')?.origin).toMatchObject({ model: evil });
  });

  it('is not put together under another file name than the contract’s', () => {
    const agentFiles = answersWith({}).set('norm.rms', agentFile('norm.rms', '../norm_rms.cpp', 'int x;\n'));
    expect(() => composePrepared(zero, { agentFiles })).toThrow(/norm\.rms is called \.\.\/norm_rms\.cpp/);
  });

  it('takes no file of an agent for a contract that knowledge fills', () => {
    const agentFiles = answersWith({ 'norm.rms': () => 'int evil;\n' });
    expect(composePrepared(known, { agentFiles })).toEqual(composePrepared(known));
  });
});

describe('an engine that is not whole yet', () => {
  const half = { 'norm.rms': null, 'interface.cli': null };

  it('is refused, by the files that are missing, unless a part is asked for', () => {
    expect(() => composePrepared(zero, { agentFiles: answersWith(half) })).toThrow(
      'Agents have yet to write norm_rms.cpp (norm.rms), interface_cli.cpp (interface.cli).',
    );
  });

  it('holds every header, the sources that are there, and says which are not', () => {
    const part = composePrepared(zero, { agentFiles: answersWith(half), isPartial: true });
    const paths = part.files.map(({ path }) => path);
    expect(paths).toContain('norm_rms.h');
    expect(paths).not.toContain('norm_rms.cpp');
    expect(textOf(part, 'CMakeLists.txt')).not.toContain('norm_rms.cpp');
    expect(textOf(part, 'README.md')).toContain(
      '**Incomplete**: `norm_rms.cpp`, `interface_cli.cpp` are not written yet',
    );
    expect(textOf(part, 'provenance.yaml')).not.toContain('norm_rms.cpp');
  });

  it('has the constants that the missing sources may use', () => {
    const [nothing, whole] = [
      composePrepared(zero, { agentFiles: new Map(), isPartial: true }),
      composePrepared(zero, { agentFiles: answers }),
    ];
    expect(textOf(whole, 'config.h')).toContain(' rms_norm_eps = ');
    expect(textOf(nothing, 'config.h')).toContain(' rms_norm_eps = ');
    expect(textOf(nothing, 'config.h')).toBe(configForAgents(zero));
  });

  it('is the whole engine once nothing is missing, partial or not', () => {
    const agentFiles = answers;
    expect(composePrepared(zero, { agentFiles, isPartial: true })).toEqual(
      composePrepared(zero, { agentFiles }),
    );
  });
});

describe('a fault in a file of an agent', () => {
  const line = (id: string) => answers.get(id)!.text.split('\n').length;

  it.each([
    [
      'a function that nothing calls',
      'static int left_over() { return 1; }\n',
      'dead-code',
      'nothing refers to the function left_over',
    ],
    [
      'a constant that its contract does not list',
      'static_assert(config::vocab_size > 0);\n',
      'unlisted-constant',
      expect.stringMatching(/^config::vocab_size is no constant of norm\.rms; its contract lists /),
    ],
    [
      'a constant that does not exist',
      'static_assert(config::made_up > 0);\n',
      'unlisted-constant',
      expect.stringContaining('config::made_up'),
    ],
    [
      'an include that is not allowed',
      '#include <sys/socket.h>\n',
      'include-not-allowed',
      expect.stringContaining('<sys/socket.h>'),
    ],
  ])('is found where it stands, and composing goes on: %s', (_, text, code, message) => {
    const agentFiles = answersWith({ 'norm.rms': (before) => before + text });
    expect(faults(zero, { agentFiles })).toEqual([['norm_rms.cpp', line('norm.rms'), code, message]]);
  });

  it('leaves config.h without a constant that nobody lists', () => {
    const agentFiles = answersWith({
      'norm.rms': (before) => `${before}static_assert(config::made_up > 0);\n`,
    });
    expect(textOf(composePrepared(zero, { agentFiles }), 'config.h')).not.toContain('made_up');
  });

  it('is none where the agent does without a part that others offer', () => {
    const agentFiles = answersWith({ 'decoder.model': () => '// SPDX-License-Identifier: MIT\n' });
    expect(faults(zero, { agentFiles })).toEqual([]);
  });

  it.each([
    ['brackets without end', `int f() { return ${'('.repeat(20_000)}`, 'too-deep'],
    ['types within types', 'struct a{'.repeat(7000), 'too-deep'],
  ])('is found in time: %s', (_, text, code) => {
    const started = performance.now();
    const agentFiles = answersWith({ 'norm.rms': () => text });
    expect(faults(zero, { agentFiles }).map((fault) => fault[2])).toContain(code);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('does not take long to look for among thousands of functions', () => {
    const started = performance.now();
    const many = () => 'int qq(){return qq();}\n'.repeat(2500);
    const agentFiles = answersWith({ 'norm.rms': many, 'kv.cache': many, 'mlp.gated': many });
    expect(faults(zero, { agentFiles }).length).toBeGreaterThan(2500);
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});
