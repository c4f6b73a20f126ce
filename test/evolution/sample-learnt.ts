import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dropFromList } from '../../src/evolution/yaml-list.ts';
import { checkTree } from '../../src/knowledge/load-catalog.ts';
import { isCatalogFile, readTree, sha256Of, type Tree } from '../../src/knowledge/read-tree.ts';
import { selectRealizations } from '../../src/knowledge/select-realizations.ts';
import type { AgentFile, AttemptAccount, RepairFinding } from '../../src/model/agent-work.ts';
import type { Catalog } from '../../src/model/catalog.ts';
import type { Learnt } from '../../src/model/lesson.ts';
import { Report } from '../../src/model/report.ts';
import { gatherLearnt } from '../../src/preparation/gather-learnt.ts';
import { knowledgeRoot } from '../../src/preparation/knowledge-base.ts';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { prepareEngine } from '../../src/preparation/prepare-engine.ts';
import { readRequest } from '../../src/preparation/read-request.ts';

const root = packageRoot();
export const tinyModel = { path: join(root, 'test/fixtures/checkpoints/tiny-qwen3') };

/** What knowledge lacks in these tests, and an agent wrote. */
export const mlpFile = 'contracts/mlp-gated/realizations/cpu-x86_64.cpp';

const numbers = readdirSync(join(knowledgeRoot(), 'failure-modes')).map((name) =>
  Number(/^fm-(\d+)/.exec(name)?.[1]),
);
/** The failure modes that lessons add: their numbers follow those of the library. */
export const newModes = [1, 2].map((after) => `fm-${Math.max(...numbers) + after}`) as [string, string];

/** Knowledge without the realization of mlp.gated for processors, and without what is about it, reports among it. */
export async function knowledgeWithoutMlp(): Promise<Map<string, string>> {
  const tree = [...(await readTree(knowledgeRoot()))].filter(([path]) => !path.startsWith('reports/'));
  const texts = new Map(tree.map(([path, { text }]) => [path, text]));
  texts.delete(mlpFile);
  texts.delete('contracts/mlp-gated/evidence.yaml');
  const isAboutIt = (item: unknown) => (item as { contract: string }).contract === 'mlp.gated';
  texts.set('sabotage.yaml', dropFromList(texts.get('sabotage.yaml')!, 'mutations', isAboutIt));
  return texts;
}

export function treeOf(texts: ReadonlyMap<string, string>): Tree {
  const paths = [...texts.keys()].filter(isCatalogFile).sort();
  return new Map(
    paths.map((path) => {
      const text = texts.get(path)!;
      return [path, { path, text, sha256: sha256Of(text) }] as const;
    }),
  );
}

export function catalogOf(texts: ReadonlyMap<string, string>): Catalog {
  const { catalog, problems } = checkTree(treeOf(texts));
  if (catalog === undefined) throw new Error(JSON.stringify(problems, null, 1));
  return catalog;
}

/** Our realization as an agent would have written it. */
export const rightText = readFileSync(join(knowledgeRoot(), mlpFile), 'utf8').replace(
  /^\/\/ (?:applies|requires):.*\n/gm,
  '',
);
/** The residual is overwritten. */
export const wrongText = rightText.replace(
  'linear_add(ctx, num_rows, hidden,',
  'linear(ctx, num_rows, hidden,',
);

export function agentText(text: string, attempt: number): AgentFile {
  const sha256 = createHash('sha256').update(text).digest('hex');
  return {
    ...{ contract: 'mlp.gated', path: 'mlp_gated.cpp', text, sha256 },
    origin: { model: 'test/model:1b', requestSha256: 'ab'.repeat(32), attempt },
  };
}

export const unitFinding: RepairFinding = {
  contract: 'mlp.gated',
  source: 'unit',
  file: 'mlp_gated.cpp',
  line: null,
  message:
    'mlp.gated#basic (small): hidden: expected 0.51 got -0.22 at [0, 3]; NMSE 9.1e-1 (limit 1e-10), max |Δ| 2.1 (limit 1e-4)',
  expected: '0.51 (case basic)',
  got: '-0.22, nmse 0.91',
  clause: 'invariant whole: the block equals the reference',
};

export const account = (number: number, more: Partial<AttemptAccount>): AttemptAccount => ({
  ...{ contract: 'mlp.gated', round: 1, number, fileSha256: null, told: [], findings: [], unstated: [] },
  ...more,
});

export interface SampleChoices {
  readonly knowledge?: ReadonlyMap<string, string>;
  readonly request?: object;
  readonly report?: Partial<Report> | null;
  readonly text?: string;
  readonly accounts?: readonly AttemptAccount[];
  readonly change?: Partial<Learnt>;
}

/** A passed run in which an agent wrote mlp.gated in two attempts, the first of them wrong. */
export async function sampleLearnt(choices: SampleChoices = {}): Promise<Learnt> {
  const knowledge = choices.knowledge ?? (await knowledgeWithoutMlp());
  const catalog = catalogOf(knowledge);
  const text = JSON.stringify({
    ...{ apiVersion: 'metainfer/v1', name: 'tiny', model: tinyModel, weights: { source: 'checkpoint' } },
    hardware: { platform: 'cpu-x86_64', threads: 2, memory: '2GiB' },
    ...{ numerics: { weights: 'bf16' }, serving: { max_context: 300, max_batch: 3 } },
    workload: { prompt_tokens: 32, output_tokens: 16 },
    ...choices.request,
  });
  const request = await readRequest(text, {
    ...{ fileName: 'tiny.yaml', origin: 'command-line', weightsRoot: undefined, catalog },
  });
  const rewritten = new Set(['mlp.gated']);
  const prepared = prepareEngine(request, catalog, { agents: { hasModel: true, rewritten } });
  const { selection } = prepared;
  const contract = selection.contracts.find(
    (entry) => entry.contract.frontMatter.id === 'mlp.gated',
  )!.contract;
  const [wrong, right] = [agentText(wrongText, 1), agentText(choices.text ?? rightText, 2)];
  const report = Report.parse(
    JSON.parse(readFileSync(join(root, 'test/fixtures/reports/tiny-qwen3.json'), 'utf8')),
  );
  const { contract: id, path, sha256, origin } = right;
  const learnt = await gatherLearnt({
    ...{ runId: 'run-1', prepared, catalog, knowledge },
    files: new Map([['mlp.gated', right]]),
    provenance: [
      {
        ...{ path, sha256 },
        origin: {
          ...{
            kind: 'agent',
            contract: id,
            version: contract.frontMatter.version,
            contractSha256: contract.sha256,
          },
          ...{ gateSha256: contract.gateSha256, model: origin.model, requestSha256: origin.requestSha256 },
        },
      },
    ],
    papers: {
      ...{ versions: [wrong, right], attempts: [], optimizations: [] },
      accounts: [
        ...(choices.accounts ?? [
          account(1, { fileSha256: wrong.sha256, findings: [unitFinding] }),
          account(2, { fileSha256: right.sha256, told: [unitFinding] }),
        ]),
      ],
    },
    report: choices.report === null ? null : { ...report, ...choices.report },
  });
  return { ...learnt, ...choices.change };
}

/** The lessons' knowledge as the planner reads it. */
export function selectIn(texts: ReadonlyMap<string, string>, { target }: Learnt) {
  return selectRealizations(catalogOf(texts), target, { mode: 'knowledge-first', hasModel: false });
}
