import type { Platform } from '../model/catalog.ts';
import type { Constraints } from '../model/constraints.ts';
import type { ModelFacts, TokenizerFacts } from '../model/model-facts.ts';
import { renderCompile } from './engine-cmake.ts';
import { figuresEnd, figuresStart } from './provenance-file.ts';

export interface ReadmeInput {
  readonly constraints: Constraints;
  readonly facts: ModelFacts;
  readonly tokenizer: TokenizerFacts;
  readonly platform: Platform;
  readonly lineCount: number;
  /** Of the whole engine, those that are still to be written included. */
  readonly sourceCount: number;
  readonly agents: {
    readonly written: readonly { readonly path: string; readonly contract: string; readonly model: string }[];
    /** Sources that are still to be written. */
    readonly absent: readonly string[];
  };
}

export function renderReadme(input: ReadmeInput): string {
  const { constraints, facts, tokenizer, platform, lineCount } = input;
  const { hardware, numerics, serving } = constraints;
  const modelText =
    'id' in constraints.model
      ? `\`${constraints.model.id}\``
      : `a ${facts.family} model given by its config.json`;
  return `# ${constraints.name}
An inference engine for exactly one target, written by MetaInfer Bot ${describeAuthors(input)}. ${lineCount} lines of C++20${platform.gpu === undefined ? '' : ' and CUDA'}, no
dependency beyond the standard library${platform.gpu === undefined ? '' : ' and the CUDA runtime'}. \`constraints.yaml\` is what was asked for, \`provenance.yaml\` says where each
file comes from, \`config.h\` holds every dimension.
${renderIncomplete(input)}
| | |
|---|---|
| Model | ${modelText}: ${facts.family}, ${facts.numLayers} layers, hidden size ${facts.hiddenSize}, ${facts.numHeads} query and ${facts.numKvHeads} key-value heads of ${facts.headDim}, vocabulary ${facts.vocabSize} |
| Text | ${describeTokenizer(tokenizer)} |
| Hardware | ${hardware.platform}, ${hardware.arch}${hardware.device === undefined ? '' : `, ${hardware.device}`}, ${hardware.threads} ${platform.gpu === undefined ? '' : 'host '}threads |
| Numbers | weights ${numerics.weights}, KV cache ${numerics.kv_cache}, activations ${numerics.activations} |
| Limits | context ${serving.max_context} tokens, ${serving.max_batch} sequence${serving.max_batch === 1 ? '' : 's'} at once |
${renderAgents(input)}
## Build
\`\`\`sh
cmake -B build && cmake --build build
# or without CMake:
mkdir -p build && ${renderCompile(platform, hardware.arch)}
\`\`\`

## Run
MODEL is a Hugging Face folder of this model: \`config.json\`, \`*.safetensors\`${tokenizer.model === 'none' ? '' : ', `tokenizer.json`'}. Any other model is refused by name.
\`\`\`sh
build/engine MODEL ${tokenizer.model === 'none' ? '--ids 1,2,3' : '--prompt "Once upon a time"'} --max-tokens 64
build/engine --help
\`\`\`

## Measured figures
${figuresStart}
${figuresEnd}
`;
}

function describeAuthors({ sourceCount, agents }: ReadmeInput): string {
  const count = agents.written.length + agents.absent.length;
  if (count === 0) return 'from parts of its knowledge base';
  return count === sourceCount
    ? 'with language models, part by part from contracts'
    : `from parts of its knowledge base and, for ${count} of ${sourceCount} sources, with language models`;
}

/** Empty where nothing is left to write. */
function renderIncomplete({ agents: { absent } }: ReadmeInput): string {
  if (absent.length === 0) return '';
  const names = absent.map((path) => `\`${path}\``).join(', ');
  return `\n**Incomplete**: ${names} ${absent.length === 1 ? 'is' : 'are'} not written yet, and nothing here builds before that.\n`;
}

/** Empty where no agent had a part. */
function renderAgents({ agents: { written } }: ReadmeInput): string {
  if (written.length === 0) return '';
  const rows = written.map(
    ({ path, contract, model }) => `| \`${path}\` | ${contract} | \`${showModel(model)}\` |`,
  );
  return `
## Written by agents
Language models wrote these sources from their contracts; they are no parts that were verified before. Whether they are
right is what verification of this engine says.

| File | Contract | Model |
|---|---|---|
${rows.join('\n')}
`;
}

/** A model's name comes from a person's settings, or from a branch: it stays a name, whatever it holds. */
function showModel(model: string): string {
  return model.replace(/[^\w.:/@+ -]/g, '?');
}

function describeTokenizer({ model, preTokenizer, normalizer }: TokenizerFacts): string {
  if (model === 'none') return 'none: token ids in, token ids out';
  const parts = [
    model.replaceAll('_', ' '),
    ...(preTokenizer === 'none' ? [] : [`${preTokenizer} pre-tokenizer`]),
  ];
  return [...parts, ...(normalizer === 'none' ? [] : [normalizer.toUpperCase()])].join(', ');
}

export const licenseText = `MIT License

Copyright (c) 2026 The MetaInfer Bot authors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`;
