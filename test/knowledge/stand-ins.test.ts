import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkTree, loadCatalog } from '../../src/knowledge/load-catalog.ts';
import { readTree, type Tree } from '../../src/knowledge/read-tree.ts';
import { selectRealizations } from '../../src/knowledge/select-realizations.ts';
import type { Catalog } from '../../src/model/catalog.ts';
import type { Target } from '../../src/model/target.ts';
import type { describeEngine } from '../../src/verification/engine-under-test.ts';
import { placeFindings } from '../../src/verification/gate-context.ts';
import { knowledgeTarget } from './knowledge-target.ts';

const root = join(import.meta.dirname, '../../knowledge');
let catalog: Catalog;
let tree: Tree;

beforeAll(async () => {
  catalog = (await loadCatalog(root)).catalog!;
  tree = await readTree(root);
});

const experts: Target = { ...knowledgeTarget, 'model.mlp': 'experts' };

function idsFor(target: Target): string[] {
  return selectRealizations(catalog, target).contracts.map(({ contract }) => contract.frontMatter.id);
}

describe('a contract that stands for another one', () => {
  test('takes its place where it applies, for all who require that one, and nowhere else', () => {
    const selection = selectRealizations(catalog, experts);
    expect(selection.missing).toEqual([]);
    const ids = selection.contracts.map(({ contract }) => contract.frontMatter.id);
    expect(ids).toContain('mlp.experts');
    expect(ids).not.toContain('mlp.gated');
    const decoder = selection.contracts.find(({ contract }) => contract.frontMatter.id === 'decoder.model');
    expect(decoder?.requires).toContain('mlp.experts');
    expect(decoder?.requires).not.toContain('mlp.gated');
    expect(ids.indexOf('mlp.experts')).toBeLessThan(ids.indexOf('decoder.model'));
    expect(idsFor(knowledgeTarget)).not.toContain('mlp.experts');
  });

  test('is written by agents in that place too', () => {
    const fill = { mode: 'zero-reference', hasModel: true } as const;
    const { contracts, missing } = selectRealizations(catalog, experts, fill);
    expect(missing).toEqual([]);
    const status = contracts.find(({ contract }) => contract.frontMatter.id === 'mlp.experts')?.status;
    expect(status).toBe('agent');
  });

  test('without one that applies, what is missing is named', () => {
    const { missing } = selectRealizations(catalog, { ...experts, 'model.mlp': 'other' });
    expect(missing).toEqual(['mlp.gated: does not cover model.mlp = other; it covers gated_silu']);
  });

  test('is who a gate means that blames the contract in whose place it stands', () => {
    const engine = {
      contracts: [
        { id: 'mlp.experts', standsFor: 'mlp.gated', header: 'mlp_gated.h', source: 'mlp_gated.cpp' },
      ],
    } as unknown as ReturnType<typeof describeEngine>;
    const finding = {
      gate: 'trace',
      contract: 'mlp.gated',
      file: null,
      line: null,
      message: 'x',
      evidence: {},
    };
    const [placed] = placeFindings(engine, [
      finding as unknown as Parameters<typeof placeFindings>[1][number],
    ]);
    expect(placed).toMatchObject({ contract: 'mlp.experts', file: 'mlp_gated.cpp' });
  });
});

describe('the check of the knowledge refuses', () => {
  const page = 'contracts/mlp-experts/contract.md';
  const header = 'contracts/mlp-experts/mlp_gated.h';

  function faultsAfter(path: string, edit: (text: string) => string) {
    const file = tree.get(path)!;
    const text = edit(file.text);
    expect(text).not.toBe(file.text);
    const changed = new Map(tree).set(path, { ...file, text });
    return checkTree(changed).problems.map((problem) => `${problem.file}:${problem.line} ${problem.message}`);
  }

  test('one that stands for a contract that does not exist', () => {
    const faults = faultsAfter(page, (text) => text.replace('stands_for: mlp.gated', 'stands_for: mlp.none'));
    expect(faults).toContainEqual(expect.stringContaining(`${page}:7 there is no contract mlp.none`));
  });

  test('one that stands for a contract that itself stands for another', () => {
    const faults = faultsAfter(page, (text) =>
      text.replace('stands_for: mlp.gated', 'stands_for: mlp.sandwich'),
    );
    expect(faults.join('\n')).toMatch(/mlp\.sandwich itself stands for mlp\.gated/);
  });

  test('one that always applies', () => {
    const faults = faultsAfter(page, (text) => text.replace(/^applies_when: .*$/m, 'applies_when: {}'));
    expect(faults).toContainEqual(
      expect.stringContaining(`${page}:6 always holds, so that mlp.gated would never`),
    );
  });

  test('one whose header declares something else', () => {
    const faults = faultsAfter(header, (text) =>
      text.replace('int num_rows, View hidden', 'int num_rows, View stream'),
    );
    expect(faults.join('\n')).toMatch(/mlp_gated\.h:1 declares something else than the header of mlp\.gated/);
  });

  test('two that stand for one contract at the same time', () => {
    const faults = faultsAfter(page, (text) =>
      text.replace('{ model.mlp: experts, model.norm: rms }', '{ model.mlp: [experts, gated_gelu] }'),
    );
    expect(faults.join('\n')).toMatch(
      /also claimed by mlp\.(experts|sandwich); an interface belongs to one contract/,
    );
  });
});
