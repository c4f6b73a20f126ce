import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../src/model/problem.ts';
import { catalogFaults, edit, norm } from './catalog-faults.ts';
import { contractPage, loadFiles, realizationText, validTree } from './knowledge-tree.ts';

/** The problems that remain after one change of the valid tree, as text. */
async function problemsAfter(change: (files: Record<string, string>) => void): Promise<string[]> {
  const files = validTree();
  change(files);
  const { problems } = await loadFiles(files);
  return problems.map(formatProblem);
}

describe('a knowledge base without faults', () => {
  test('loads with its contracts in order of their ids', async () => {
    const { catalog, problems } = await loadFiles(validTree());
    expect(problems).toEqual([]);
    expect(catalog?.contracts.map((contract) => contract.frontMatter.id)).toEqual([
      'harness.protocol',
      'interface.cli',
      'norm.rms',
    ]);
    expect(catalog?.models.map((model) => model.id)).toEqual(['org/one']);
    expect(catalog?.platforms[0]?.archs.avx2).toEqual({
      flags: ['-mavx2'],
      vectorWidth: 8,
      cpuFlags: ['avx2'],
    });
    expect(catalog?.failureModeIds).toContain('fm-22');
  });

  test('has the same hash when read again and another after any change', async () => {
    const first = await loadFiles(validTree());
    const again = await loadFiles(validTree());
    const files = validTree();
    files[`${norm}/contract.md`] += '\nMore text.\n';
    const changed = await loadFiles(files);
    expect(first.catalog?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(again.catalog?.sha256).toBe(first.catalog?.sha256);
    expect(changed.catalog?.sha256).not.toBe(first.catalog?.sha256);
  });

  test('reads what a realization says about itself', async () => {
    const { catalog } = await loadFiles(validTree());
    const contract = catalog?.contracts.find((entry) => entry.frontMatter.id === 'norm.rms');
    expect(contract?.realizations.map((entry) => [entry.file, entry.applies])).toEqual([
      ['cpu-bf16.cpp', { 'hardware.platform': 'cpu-x86_64', 'numerics.weights': 'bf16' }],
      ['cpu-f32.cpp', { 'hardware.platform': 'cpu-x86_64', 'numerics.weights': 'f32' }],
    ]);
    expect(contract?.gate?.cases[0]?.id).toBe('zero_row');
  });
});

describe('each fault is refused with its place', () => {
  test('an alias that stands for nothing, as YAML reads text that starts with a star', async () => {
    const problems = await problemsAfter(edit(`${norm}/contract.md`, 'zero stays zero', '*zero'));
    expect(problems.join('\n')).toMatch(/contract\.md:\d+:\d+: .*alias.*zero/);
  });

  test('an alias bomb', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, n) => `x${n}: &a${n} [${Array(9).fill(n === 0 ? '1' : `*a${n - 1}`)}]`,
    );
    const problems = await problemsAfter((files) => {
      files[`${norm}/gate.yaml`] = levels.join('\n');
    });
    expect(problems.join('\n')).toMatch(/gate\.yaml:1:1: the aliases cannot be resolved: .*alias count/);
  });

  test.each(catalogFaults)('%s', async (_, change, expected) => {
    const problems = await problemsAfter(change);
    expect(problems.join('\n')).toMatch(expected);
  });

  test('two contracts that claim one symbol', async () => {
    const problems = await problemsAfter((files) => {
      files['contracts/norm-other/contract.md'] = contractPage('norm.other', 'int rms_norm(int x)');
      files['contracts/norm-other/norm_other.h'] = '#pragma once\nint rms_norm(int x);\n';
      files['contracts/norm-other/realizations/a.cpp'] = realizationText(
        'norm.other',
        '#include "norm_other.h"\n',
      );
    });
    expect(problems.join('\n')).toMatch(
      /norm-rms\/contract\.md:\d+:1 provides: rms_norm is also claimed by norm\.other/,
    );
  });

  test('but not two that can never stand in one engine', async () => {
    const problems = await problemsAfter((files) => {
      files['contracts/norm-other/contract.md'] = contractPage('norm.other', 'int rms_norm(int x)', {
        applies_when: '{ model.norm: layer }',
      });
      files['contracts/norm-other/norm_other.h'] = '#pragma once\nint rms_norm(int x);\n';
    });
    expect(problems).toEqual([]);
  });

  test('all faults of all files come at once, and no catalog', async () => {
    const files = validTree();
    edit(`${norm}/contract.md`, '[fm-22]', '[fm-98, fm-99]')(files);
    edit('platforms/cpu-x86_64.yaml', 'id: cpu-x86_64', 'id: other\nsize: 3')(files);
    edit('models/llama.yaml', 'family: llama', 'family: bert')(files);
    delete files['contracts/interface-cli/interface_cli.h'];
    const { catalog, problems } = await loadFiles(files);
    expect(catalog).toBeUndefined();
    expect(new Set(problems.map((problem) => problem.file))).toEqual(
      new Set([
        'contracts/interface-cli/interface_cli.h',
        `${norm}/contract.md`,
        'models/llama.yaml',
        'platforms/cpu-x86_64.yaml',
      ]),
    );
    expect(problems.filter((problem) => problem.code === 'dangling-failure-mode')).toHaveLength(2);
  });
});
