import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkIncludes } from '../../src/generation/check-includes.ts';
import { checkProvenance } from '../../src/generation/check-provenance.ts';
import { composeEngine } from '../../src/generation/compose-engine.ts';
import { findDeadCode } from '../../src/generation/find-dead-code.ts';
import { insertFigures } from '../../src/generation/provenance-file.ts';
import { writeEngine } from '../../src/generation/write-engine.ts';
import { selectRealizations } from '../../src/knowledge/select-realizations.ts';
import { Constraints } from '../../src/model/constraints.ts';
import type { EngineSources } from '../../src/model/engine.ts';
import { readModelConfig } from '../../src/model/model-config.ts';
import { toTarget } from '../../src/model/target.ts';
import { loadFiles, validTree } from '../knowledge/knowledge-tree.ts';

const tokenizer = { model: 'none', preTokenizer: 'none', normalizer: 'none' } as const;

function constraintsFor(weights: string, arch = 'avx2'): Constraints {
  return Constraints.parse({
    apiVersion: 'metainfer/v1',
    name: 'small-engine',
    model: { id: 'org/one' },
    weights: { source: 'synthetic', seed: 1 },
    hardware: { platform: 'cpu-x86_64', arch, threads: 2, memory: 1_000_000 },
    numerics: { weights },
    parallelism: {},
    serving: { max_context: 64 },
    workload: { prompt_tokens: 8, output_tokens: 8 },
    goals: { require: [], fidelity: { mean_kld: 1e-6, top1_agreement: 1 } },
    generation: { budget: {} },
  });
}

async function compose(
  weights = 'bf16',
  change: (files: Record<string, string>) => void = () => {},
  arch = 'avx2',
) {
  const files = validTree();
  change(files);
  const { catalog, problems } = await loadFiles(files);
  if (catalog === undefined) throw new Error(JSON.stringify(problems));
  const [model] = catalog.models;
  const { facts } = readModelConfig(model?.config);
  const [platform] = catalog.platforms;
  if (facts === undefined || platform === undefined)
    throw new Error('the tree of the tests has a model and a platform');
  const constraints = constraintsFor(weights, arch);
  const selection = selectRealizations(catalog, toTarget(constraints, facts, tokenizer));
  const constraintsText = '# as written\nname: small-engine\n';
  return composeEngine({
    constraints,
    constraintsText,
    facts,
    modelConfig: model?.config ?? {},
    tokenizer,
    selection,
    platform,
  });
}

function textOf(sources: EngineSources, path: string): string {
  return sources.files.find((file) => file.path === path)?.text ?? '';
}

describe('the composer', () => {
  test('writes one header and one source for each contract, and what belongs to an engine', async () => {
    const sources = await compose();
    expect(sources.files.map((file) => file.path)).toEqual([
      'CMakeLists.txt',
      'LICENSE',
      'README.md',
      'constraints.yaml',
      'config.h',
      'harness_protocol.cpp',
      'harness_protocol.h',
      'interface_cli.cpp',
      'interface_cli.h',
      'norm_rms.cpp',
      'norm_rms.h',
      'provenance.yaml',
    ]);
    expect(textOf(sources, 'norm_rms.cpp')).toContain('return x * config::hidden_size');
    expect(textOf(sources, 'config.h')).toContain('hidden_size = 64');
    expect(textOf(sources, 'constraints.yaml')).toBe('# as written\nname: small-engine\n');
    expect(textOf(sources, 'CMakeLists.txt')).toContain('-mavx2');
    expect(textOf(sources, 'CMakeLists.txt')).not.toContain('-O3 ');
  });

  test('gives the same bytes for the same inputs, and other bytes for others', async () => {
    const [first, again, other] = [await compose(), await compose(), await compose('f32')];
    expect(again).toEqual(first);
    expect(textOf(other, 'norm_rms.cpp')).not.toBe(textOf(first, 'norm_rms.cpp'));
    expect(textOf(other, 'provenance.yaml')).not.toBe(textOf(first, 'provenance.yaml'));
  });

  test('counts the lines of C++ and nothing else', async () => {
    const sources = await compose();
    const cpp = sources.files.filter((file) => /\.(?:h|cpp)$/.test(file.path));
    expect(sources.lineCount).toBe(
      cpp.reduce((sum, file) => sum + file.text.trimEnd().split('\n').length, 0),
    );
  });

  test('says of every file where it comes from', async () => {
    const sources = await compose();
    expect(sources.provenance.map((entry) => entry.path)).toEqual(
      sources.files.map((file) => file.path).filter((path) => path !== 'provenance.yaml'),
    );
    const origin = sources.provenance.find((entry) => entry.path === 'norm_rms.cpp')?.origin;
    expect(origin).toMatchObject({
      kind: 'realization',
      contract: 'norm.rms',
      version: '1.0.0',
      realization: 'contracts/norm-rms/realizations/cpu-bf16.cpp',
      gateSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test('refuses what no realization covers, by name', async () => {
    await expect(compose('q8_0')).rejects.toMatchObject({
      code: 'NOT_COVERED',
      message: 'norm.rms: no realization for numerics.weights = q8_0; there is bf16, f32',
    });
    await expect(compose('bf16', () => {}, 'avx9')).rejects.toMatchObject({ code: 'NOT_COVERED' });
  });

  test('refuses realizations that leave a function unreferenced, by file and line', async () => {
    const path = 'contracts/norm-rms/realizations/cpu-bf16.cpp';
    const addFunction = (files: Record<string, string>) => {
      files[path] = `${files[path]}int left_over() { return 1; }\n`;
    };
    await expect(compose('bf16', addFunction)).rejects.toMatchObject({
      code: 'KNOWLEDGE_INVALID',
      message: expect.stringMatching(/norm_rms\.cpp:6: nothing refers to the function left_over/),
    });
  });

  test('its engine has no dead code and includes only what is allowed', async () => {
    const { files } = await compose();
    expect(findDeadCode(files)).toEqual([]);
    expect(checkIncludes(files)).toEqual([]);
    const path = 'norm_rms.cpp';
    const worse = files.map((file) =>
      file.path === path ? { path, text: `#include <sys/socket.h>\n#include "gone.h"\n${file.text}` } : file,
    );
    expect(checkIncludes(worse).map((problem) => [problem.line, problem.message.split(' ')[0]])).toEqual([
      [1, '<sys/socket.h>'],
      [2, '"gone.h"'],
    ]);
  });
});

describe('an engine folder', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'metainfer-engine-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  test('is written whole, agrees with its provenance and compiles with a bare compiler', async () => {
    const folder = join(root, 'nested', 'engine');
    await writeEngine(await compose(), folder);
    expect((await checkProvenance(folder)).problems).toEqual([]);
    execFileSync('g++', ['-std=c++20', '-O0', '-c', 'norm_rms.cpp', '-o', join(root, 'norm.o')], {
      cwd: folder,
    });
    expect(await readdir(join(root, 'nested'))).toEqual(['engine']);
  });

  test('names changed, missing and added files', async () => {
    await writeEngine(await compose(), root);
    await writeFile(join(root, 'norm_rms.cpp'), 'int x;\n');
    await rm(join(root, 'config.h'));
    await writeFile(join(root, 'extra.h'), '');
    const check = await checkProvenance(root);
    expect(check).toMatchObject({ changed: ['norm_rms.cpp'], missing: ['config.h'], added: ['extra.h'] });
    expect(check.problems.map((problem) => problem.file)).toEqual(['norm_rms.cpp', 'config.h', 'extra.h']);
  });

  test('may hold figures, a report and a build', async () => {
    await writeEngine(await compose(), root);
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    await writeFile(
      join(root, 'README.md'),
      insertFigures(insertFigures(readme, '12 tokens/s'), '13 tokens/s'),
    );
    expect(await readFile(join(root, 'README.md'), 'utf8')).toMatch(/13 tokens\/s(?![\s\S]*12 tokens)/);
    await writeFile(join(root, 'report.json'), '{}');
    await mkdir(join(root, 'build'));
    await writeFile(join(root, 'build', 'engine'), '');
    expect((await checkProvenance(root)).problems).toEqual([]);
    await writeFile(join(root, 'README.md'), `${readme}More.\n`);
    expect((await checkProvenance(root)).changed).toEqual(['README.md']);
  });

  test('is replaced by a newer one', async () => {
    await writeEngine(await compose(), root);
    await writeEngine(await compose('f32'), root);
    expect(await readFile(join(root, 'norm_rms.cpp'), 'utf8')).toContain('x + config::hidden_size');
    expect((await checkProvenance(root)).problems).toEqual([]);
  });

  test('is not written over anything else', async () => {
    await writeFile(join(root, 'thesis.txt'), 'years of work');
    await expect(writeEngine(await compose(), root)).rejects.toMatchObject({ code: 'OUTPUT_EXISTS' });
    await expect(writeEngine(await compose(), join(root, 'thesis.txt'))).rejects.toMatchObject({
      code: 'OUTPUT_EXISTS',
    });
    expect(await readdir(root)).toEqual(['thesis.txt']);
    const engine = join(root, 'engine');
    await writeEngine(await compose(), engine);
    await writeFile(join(engine, 'notes.txt'), 'mine');
    await expect(writeEngine(await compose('f32'), engine)).rejects.toThrow(/notes\.txt/);
    expect(await readFile(join(engine, 'norm_rms.cpp'), 'utf8')).toContain('x * config::hidden_size');
  });

  test('leaves nothing behind where writing fails', async () => {
    const sources = await compose();
    const broken = { ...sources, files: [...sources.files, { path: 'norm_rms.cpp/impossible', text: '' }] };
    await expect(writeEngine(broken, join(root, 'engine'))).rejects.toThrow();
    expect(await readdir(root)).toEqual([]);
  });

  test('a folder without provenance is not an engine', async () => {
    expect((await checkProvenance(root)).problems[0]?.message).toMatch(/not an engine folder/);
    await writeFile(join(root, 'provenance.yaml'), 'name: [');
    expect((await checkProvenance(root)).problems[0]?.message).toMatch(/cannot be read/);
  });
});
