import type { Plan } from '../model/plan.ts';
import { grouped } from '../model/show-number.ts';

interface Stage {
  readonly id: string;
  readonly title: (plan: Plan) => string;
  readonly owns: RegExp;
}

/** The way of a token through any decoder; what owns no stage of it serves all of them. */
const stages: readonly Stage[] = [
  {
    id: 'text',
    title: ({ tokenizer }) => (tokenizer.model === 'none' ? 'Token ids' : 'Text to tokens'),
    owns: /^text\.(?!stop|generation)/,
  },
  { id: 'embedding', title: () => 'Embedding', owns: /^embedding\./ },
  {
    id: 'attention',
    title: () => 'Attention',
    owns: /^(?:attention|position|kv)\./,
  },
  { id: 'mlp', title: () => 'MLP', owns: /^(?:mlp|moe)\./ },
  { id: 'head', title: ({ facts }) => `Logits, ${grouped(facts.vocabSize)} ids`, owns: /^head\./ },
  { id: 'sampling', title: () => 'Next token', owns: /^(?:sampling\.|text\.(?:stop|generation))/ },
];

function label(title: string, plan: Plan, owns: (contract: string) => boolean): string {
  const parts = plan.coverage
    .filter(({ contract, status }) => status !== 'replaced' && owns(contract))
    .map(({ contract, realization }) =>
      realization === null ? contract : `${contract}: ${realization.replace(/\.\w+$/, '')}`,
    );
  // Quotes and brackets end a label; names of contracts and files have neither.
  return [title, ...parts].map((line) => line.replace(/[^\w .,:×-]/g, '')).join('<br/>');
}

/** The engine as a Mermaid flow chart: each stage with the contracts and realizations that fill it. */
export function renderDiagram(plan: Plan): string {
  const has = (stage: Stage) => plan.coverage.some(({ contract }) => stage.owns.test(contract));
  const present = stages.filter(has);
  const node = (stage: Stage) =>
    `${stage.id}["${label(stage.title(plan), plan, (name) => stage.owns.test(name))}"]`;
  const inLayer = present.filter(({ id }) => id === 'attention' || id === 'mlp');
  const support = label('Used by all', plan, (name) => !stages.some(({ owns }) => owns.test(name)));
  const loops = ['embedding', 'sampling'].every((id) => present.some((stage) => stage.id === id));
  const chain = present.map(({ id }) => id).join(' --> ');
  return [
    '```mermaid',
    'flowchart TD',
    ...present.filter((stage) => !inLayer.includes(stage)).map((stage) => `  ${node(stage)}`),
    `  subgraph layers["× ${plan.facts.numLayers} layers of ${grouped(plan.facts.hiddenSize)}"]`,
    ...inLayer.map((stage) => `    ${node(stage)}`),
    '  end',
    `  ${chain}`,
    ...(loops ? ['  sampling -.->|next step| embedding'] : []),
    `  support["${support}"]`,
    '```',
  ].join('\n');
}
