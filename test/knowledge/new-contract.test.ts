import { describe, expect, it } from 'vitest';
import { newContract, refuseContractId } from '../../src/knowledge/new-contract.ts';
import { ContractFrontMatter } from '../../src/model/contract.ts';
import type { Problem } from '../../src/model/problem.ts';
import { loadFiles, validTree } from './knowledge-tree.ts';

const { folder, files } = newContract('mlp.experts');

async function problemsWith(skeleton: ReadonlyMap<string, string>): Promise<readonly Problem[]> {
  const placed = [...skeleton].map(([name, text]) => [`contracts/${folder}/${name}`, text]);
  const { catalog, problems } = await loadFiles({ ...validTree(), ...Object.fromEntries(placed) });
  expect(catalog).toBeUndefined();
  return problems;
}

/** Places in the text that ask for something, as `file:line:column`. */
function placesIn(skeleton: ReadonlyMap<string, string>): string[] {
  return [...skeleton].flatMap(([name, text]) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        [...line.matchAll(/<WRITE/g)].map(
          ({ index: at }) => `contracts/${folder}/${name}:${index + 1}:${at + 1}`,
        ),
      ),
  );
}

describe('the skeleton of a contract', () => {
  it('has the files of a contract, with every key of the front matter and every heading', () => {
    expect([folder, ...files.keys()]).toEqual([
      ...['mlp-experts', 'contract.md', 'mlp_experts.h', 'reference.ts', 'gate.yaml', 'shim.cpp'],
    ]);
    const page = files.get('contract.md')!;
    for (const key of Object.keys(ContractFrontMatter.shape))
      expect(page).toMatch(new RegExp(key === 'stands_for' ? `^# ${key}:` : `^${key}:`, 'm'));
    for (const heading of ['Meaning', 'Steps', 'Example', 'Edges', 'Cost', 'What people get wrong'])
      expect(page).toContain(`## ${heading}\n`);
  });

  it('is reported as unwritten at each place that asks for something', async () => {
    const problems = await problemsWith(files);
    const unwritten = problems.filter(({ code }) => code === 'unwritten');
    const places = placesIn(files);
    expect(places.length).toBeGreaterThan(40);
    expect(unwritten.map(({ file, line, column }) => `${file}:${line}:${column}`).sort()).toEqual(
      places.sort(),
    );
    for (const name of files.keys()) expect(unwritten.some(({ file }) => file?.endsWith(name))).toBe(true);
  });

  it('stays incomplete while one place is left, and in the way of no other contract', async () => {
    for (const name of files.keys()) {
      const problems = await problemsWith(new Map([[name, files.get(name)!]]));
      expect(problems.some(({ code, file }) => code === 'unwritten' && file?.endsWith(name))).toBe(true);
    }
    const all = await problemsWith(files);
    expect(all.filter(({ file }) => !file?.startsWith(`contracts/${folder}/`))).toEqual([]);
  });
});

describe('the id of a new contract', () => {
  it.each(['norm.rms', 'position.rope-frequencies', 'text.utf8'])('may be %s', (id) => {
    expect(refuseContractId(id)).toBeUndefined();
  });

  it.each([
    'norm',
    'Norm.rms',
    'norm.rms.more',
    'norm-rms',
    '../x.y',
    'a-b.c',
    'norm.',
    '.rms',
    'a.b/c',
    'norm.rms ',
    '',
  ])('may not be "%s"', (id) => {
    expect(refuseContractId(id)).toMatch(/is no id of a contract; expected <area>\.<part>/);
  });
});
