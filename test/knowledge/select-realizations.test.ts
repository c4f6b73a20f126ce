import { describe, expect, test } from 'vitest';
import { selectRealizations } from '../../src/knowledge/select-realizations.ts';
import type { Catalog } from '../../src/model/catalog.ts';
import { knowledgeTarget } from './knowledge-target.ts';
import { contractPage, loadFiles, realizationText, validTree } from './knowledge-tree.ts';

const target = knowledgeTarget;
const folder = 'contracts/norm-rms';
const second = realizationText(
  'norm.rms',
  '#include "norm_rms.h"\nint rms_norm(int x) { return x; }\n',
  'numerics.weights=bf16|f32',
);

async function load(change: (files: Record<string, string>) => void = () => {}): Promise<Catalog> {
  const files = validTree();
  change(files);
  const { catalog, problems } = await loadFiles(files);
  if (catalog === undefined) throw new Error(JSON.stringify(problems));
  return catalog;
}

function chosen(catalog: Catalog, wanted = target) {
  const selection = selectRealizations(catalog, wanted);
  const norm = selection.contracts.find((entry) => entry.contract.frontMatter.id === 'norm.rms');
  return { selection, norm };
}

describe('selection', () => {
  test('puts what is required first and fills each contract with what applies', async () => {
    const { selection, norm } = chosen(await load());
    expect(selection.missing).toEqual([]);
    expect(selection.contracts.map((entry) => entry.contract.frontMatter.id)).toEqual([
      'norm.rms',
      'harness.protocol',
      'interface.cli',
    ]);
    expect(norm?.realization?.file).toBe('cpu-bf16.cpp');
    expect(norm?.reason).toBe('cpu-bf16.cpp is the only realization that applies.');
  });

  test('leaves out contracts that no root needs', async () => {
    const catalog = await load((files) => {
      files['contracts/norm-layer/contract.md'] = contractPage('norm.layer', 'int layer_norm(int x)');
      files['contracts/norm-layer/norm_layer.h'] = '#pragma once\nint layer_norm(int x);\n';
    });
    const { selection } = chosen(catalog);
    expect(selection.contracts.map((entry) => entry.contract.frontMatter.id)).not.toContain('norm.layer');
  });

  test('takes the first by name where two apply with equal evidence, and says so', async () => {
    const catalog = await load((files) => {
      files[`${folder}/realizations/a-second.cpp`] = second;
    });
    const { norm } = chosen(catalog);
    expect(norm?.realization?.file).toBe('a-second.cpp');
    expect(norm?.reason).toBe('a-second.cpp is the first by name of 2 that apply with equal evidence.');
  });

  test('prefers evidence for exactly this text on this platform over the name', async () => {
    const hash = 'a'.repeat(64);
    const evidence = (realization: string, sha256: string, platform: string) =>
      `- { realization: ${realization}, report: ${hash}, repeat: npx metainfer, applies: { hardware.platform: ${platform} }, device: { cpu: x, threads: 2 }, toolchain: g++ 12, hashes: { contract: ${hash}, realization: ${sha256}, gate: ${hash} }, figures: { nmse: 0 }, date: 2026-12-01 }\n`;
    const plain = await load((files) => {
      files[`${folder}/realizations/a-second.cpp`] = second;
    });
    const norm = plain.contracts.find((entry) => entry.frontMatter.id === 'norm.rms');
    const sha256 = norm?.realizations.find((entry) => entry.file === 'cpu-bf16.cpp')?.sha256 ?? '';
    const withEvidence = (entry: string) =>
      load((files) => {
        files[`${folder}/realizations/a-second.cpp`] = second;
        files[`${folder}/evidence.yaml`] = entry;
      });
    const good = chosen(await withEvidence(evidence('cpu-bf16.cpp', sha256, 'cpu-x86_64')));
    expect(good.norm?.realization?.file).toBe('cpu-bf16.cpp');
    expect(good.norm?.reason).toMatch(/1 verified run\(s\) on cpu-x86_64/);
    const stale = chosen(await withEvidence(evidence('cpu-bf16.cpp', hash, 'cpu-x86_64')));
    expect(stale.norm?.realization?.file).toBe('a-second.cpp');
    const elsewhere = chosen(await withEvidence(evidence('cpu-bf16.cpp', sha256, 'cuda')));
    expect(elsewhere.norm?.realization?.file).toBe('a-second.cpp');
  });

  test('names the nearest mismatch of a contract that nothing fills', async () => {
    const { selection, norm } = chosen(await load(), { ...target, 'numerics.weights': 'q8_0' });
    expect(norm?.status).toBe('missing');
    expect(selection.missing).toEqual([
      'norm.rms: no realization for numerics.weights = q8_0; there is bf16, f32',
    ]);
  });

  test('says which fact a contract does not cover', async () => {
    const { selection } = chosen(await load(), { ...target, 'model.norm': 'layer' });
    expect(selection.missing).toEqual(['norm.rms: does not cover model.norm = layer; it covers rms']);
  });

  test('lets a fused realization replace another contract, whose header alone stays', async () => {
    const catalog = await load((files) => {
      files['contracts/harness-protocol/realizations/posix.cpp'] = realizationText(
        'harness.protocol',
        '#include "harness_protocol.h"\n#include "norm_rms.h"\nint rms_norm(int x) { return x; }\nint run_harness() { return rms_norm(1); }\n',
        'any',
        '// replaces: norm.rms\n',
      );
    });
    const { norm } = chosen(catalog);
    expect(norm).toMatchObject({ status: 'replaced', realization: undefined });
    expect(norm?.reason).toBe('Filled by the realization of harness.protocol.');
  });

  test('follows what a realization requires beyond its contract', async () => {
    const catalog = await load((files) => {
      files['contracts/text-extra/contract.md'] = contractPage('text.extra', 'struct Extra', {
        provides:
          '{ header: text_extra.h, header_only: true, symbols: [{ signature: struct Extra, errors: none }] }',
      });
      files['contracts/text-extra/text_extra.h'] = '#pragma once\nstruct Extra {};\n';
      files[`${folder}/realizations/cpu-bf16.cpp`] = realizationText(
        'norm.rms',
        '#include "norm_rms.h"\n#include "text_extra.h"\nint rms_norm(int x) { return x; }\n',
        'numerics.weights=bf16',
        '// requires: text.extra\n',
      );
    });
    const { selection } = chosen(catalog);
    const [first] = selection.contracts;
    expect([first?.contract.frontMatter.id, first?.status]).toEqual(['text.extra', 'header-only']);
    expect(chosen(catalog, { ...target, 'numerics.weights': 'f32' }).selection.contracts).toHaveLength(3);
  });
});
