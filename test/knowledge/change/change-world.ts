import { join } from 'node:path';
import { stringify } from 'yaml';
import { type ChangeOptions, checkChange } from '../../../src/knowledge/change/check-change.ts';
import { checkTree } from '../../../src/knowledge/load-catalog.ts';
import { compareBytes, readTree, sha256Of, type Tree } from '../../../src/knowledge/read-tree.ts';
import { Constraints } from '../../../src/model/constraints.ts';
import type { Contract } from '../../../src/model/contract.ts';
import { makeEvidence } from '../../../src/model/evidence-entry.ts';
import type { Problem } from '../../../src/model/problem.ts';
import { Report } from '../../../src/model/report.ts';

/** The knowledge of this repository as it stands: every change of these tests is a small edit of it, in memory. */
export const present: Tree = await readTree(join(import.meta.dirname, '../../../knowledge'));

/** Path → text of the file after the change; null where it goes. */
export type Edits = Readonly<Record<string, string | null>>;

export function textOf(path: string, tree: Tree = present): string {
  const file = tree.get(path);
  if (file === undefined) throw new Error(`there is no ${path}`);
  return file.text;
}

/** One file with each text replaced by the other; a text that isn't there is a fault of the test. */
export function edit(path: string, ...changes: (readonly [from: string, to: string])[]): Edits {
  const text = changes.reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`${path} does not hold ${from}`);
    return before.replace(from, () => to);
  }, textOf(path));
  return { [path]: text };
}

export function withEdits(edits: Edits, tree: Tree = present): Tree {
  const files = new Map(tree);
  for (const [path, text] of Object.entries(edits)) {
    if (text === null) files.delete(path);
    else files.set(path, { path, text, sha256: sha256Of(text) });
  }
  return new Map([...files].sort(([a], [b]) => compareBytes(a, b)));
}

export function problemsOf(edits: Edits, options?: ChangeOptions, before: Tree = present): Problem[] {
  return checkChange(before, withEdits(edits, before), options);
}

export function errorsOf(edits: Edits, options?: ChangeOptions, before: Tree = present): Problem[] {
  return problemsOf(edits, options, before).filter(({ severity }) => severity === 'error');
}

export const page = (folder: string): string => `contracts/${folder}/contract.md`;

/** The next number that no failure mode has. */
export const nextMode = `fm-${1 + Math.max(...[...present.keys()].map((path) => Number(/^failure-modes\/fm-(\d+)/.exec(path)?.[1] ?? 0)))}`;

/** Report of an earlier run that norm.rms, among others, has no evidence of. */
export const keptReport = 'reports/tiny-qwen3-2971cd6a631d4ed6.json';

/** contracts/norm-rms/evidence.yaml with one more entry: what `metainfer evidence` would add for that run. */
export function withEvidence(
  change: (entry: Record<string, unknown>) => void = () => undefined,
  report = Report.parse(JSON.parse(textOf(keptReport))),
  reportSha256 = sha256Of(textOf(keptReport)),
): Edits {
  const contract = checkTree(present).catalog!.contracts.find(
    ({ frontMatter }) => frontMatter.id === 'norm.rms',
  )!;
  const realization = contract.realizations.find(({ file }) => file === 'cpu-x86_64.cpp')!;
  const entry = makeEvidence(contract as Contract, realization, {
    ...{ constraints: constraintsOf(), report, reportSha256 },
  });
  const plain = JSON.parse(JSON.stringify(entry)) as Record<string, unknown>;
  change(plain);
  const path = 'contracts/norm-rms/evidence.yaml';
  return { [path]: `${textOf(path)}${stringify([plain], { lineWidth: 110 })}` };
}

function constraintsOf(): Constraints {
  return Constraints.parse({
    apiVersion: 'metainfer/v1',
    name: 'tiny-qwen3',
    model: { id: 'org/one' },
    weights: { source: 'synthetic', seed: 1 },
    hardware: { platform: 'cpu-x86_64', arch: 'avx2', threads: 2, memory: 1_000_000 },
    numerics: { weights: 'bf16' },
    parallelism: {},
    serving: { max_context: 64, max_batch: 2 },
    workload: { prompt_tokens: 8, output_tokens: 8 },
    goals: { require: [], fidelity: { mean_kld: 1e-6, top1_agreement: 1 } },
    generation: { budget: {} },
  });
}
