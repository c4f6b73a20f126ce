import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * The import table of DESIGN §4: which parts of src a part may import, besides itself. A star, not a chain: stages
 * see the data in model/ and never each other.
 */
const allowedImports: Readonly<Record<string, readonly string[]>> = {
  model: [],
  constraints: ['model'],
  knowledge: ['model'],
  plan: ['model'],
  generation: ['model'],
  verification: ['model', 'contracts'],
  contracts: ['model', 'contracts'],
  pipeline: ['model'],
  evolution: ['model'],
  config: ['model'],
  preparation: ['model', 'constraints', 'knowledge', 'plan', 'generation', 'verification'],
  webhooks: ['model', 'constraints'],
  delivery: ['model'],
  dashboard: ['model', 'adapters'],
  adapters: ['model'],
  jobs: [
    'model',
    'pipeline',
    'adapters',
    'webhooks',
    'delivery',
    'preparation',
    'constraints',
    'plan',
    'verification',
    'generation',
    'evolution',
  ],
  local: [
    'model',
    'pipeline',
    'evolution',
    'preparation',
    'constraints',
    'knowledge',
    'plan',
    'generation',
    'verification',
  ],
  app: [
    'model',
    'config',
    'pipeline',
    'adapters',
    'webhooks',
    'jobs',
    'delivery',
    'dashboard',
    'plan',
    'preparation',
  ],
  cli: [
    'model',
    'config',
    'pipeline',
    'preparation',
    'local',
    'evolution',
    'adapters',
    'app',
    'constraints',
    'knowledge',
    'plan',
    'generation',
    'verification',
  ],
};
const pureParts = ['constraints', 'plan', 'pipeline', 'evolution'];

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
}

/** `src/plan/x.ts` → plan; `src/pipeline.ts` → pipeline; `knowledge/contracts/…` → contracts. */
function partOf(file: string): string {
  const [top, second] = relative(root, file).split('/');
  if (top === 'knowledge') return 'contracts';
  return (second ?? '').replace(/\.ts$/, '');
}

/** Of statements that begin a line: text that a file writes may hold others. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const statement = /^(?:import|export)\s(?:[^'"`;]*\sfrom\s*)?['"]([^'"]+)['"]/gm;
  const call = /\bimport\(\s*['"]([^'"]+)['"]/g;
  return [...text.matchAll(statement), ...text.matchAll(call)].map((match) => match[1]!);
}

const files = [...sourceFiles(join(root, 'src')), ...sourceFiles(join(root, 'knowledge'))];

describe('the import table', () => {
  it('knows every part of src', () => {
    const parts = new Set(files.map(partOf));
    expect([...parts].filter((part) => !(part in allowedImports))).toEqual([]);
  });

  it('holds for every file', () => {
    const broken = files.flatMap((file) => {
      const part = partOf(file);
      return importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => partOf(join(dirname(file), specifier)))
        .filter((imported) => imported !== part && !(allowedImports[part] ?? []).includes(imported))
        .map((imported) => `${relative(root, file)} imports ${imported}`);
    });
    expect(broken).toEqual([]);
  });

  it('keeps constraints, plan, pipeline and evolution free of files, processes and the network', () => {
    const impure = files
      .filter((file) => pureParts.includes(partOf(file)) && !file.endsWith('publish-schema.ts'))
      .flatMap((file) =>
        importsOf(file)
          .filter((name) => name.startsWith('node:') && name !== 'node:crypto')
          .map((name) => `${relative(root, file)} imports ${name}`),
      );
    expect(impure).toEqual([]);
  });

  it('lets only config.ts read the environment', () => {
    const readers = files
      .filter((file) => /process\.env\b/.test(readFileSync(file, 'utf8')))
      .map((file) => relative(root, file));
    expect(readers).toEqual(['src/config.ts']);
  });

  it('keeps every file of src and of the tests at 300 lines or fewer', () => {
    const long = [...files, ...sourceFiles(join(root, 'test'))]
      .filter((file) => readFileSync(file, 'utf8').split('\n').length > 301)
      .map((file) => relative(root, file));
    expect(long).toEqual([]);
  });
});
