import { headerOfFolder } from './contract-folder.ts';
import { markUnwritten as write } from './find-unwritten.ts';

/** One dot, then words with dashes: then the folder's name tells the id. */
const idForm = /^[a-z0-9]+\.[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Why `id` names no contract that could be; undefined where it may. */
export function refuseContractId(id: string): string | undefined {
  if (idForm.test(id)) return undefined;
  return `"${id}" is no id of a contract; expected <area>.<part> in small letters and digits, as in norm.rms or position.rope-frequencies.`;
}

/** A folder that says at each place what is to be written there; `metainfer knowledge check` lists those places. */
export function newContract(id: string): {
  readonly folder: string;
  readonly files: ReadonlyMap<string, string>;
} {
  const folder = id.replace('.', '-');
  const header = headerOfFolder(folder);
  const files = new Map([
    ['contract.md', contractPage(id, header)],
    [header, headerText(id)],
    ['reference.ts', referenceText()],
    ['gate.yaml', gateText(id)],
    ['shim.cpp', shimText(header)],
  ]);
  return { folder, files };
}

const signature = `void ${write('name')}(Context& ctx, int num_rows, View out, View x);`;

function contractPage(id: string, header: string): string {
  return `---
id: ${id}
version: 1.0.0
layer: "${write('common, family, model or deployment')}"
summary: "${write('what it is, in one sentence of at most 200 characters')}"
# Keys and values of src/model/target.ts, as in { model.norm: rms }; {} for every engine.
applies_when: { "${write('key of the target')}": "${write('value')}" }
provides:
  header: ${header}
  symbols:
    - signature: "${signature}"
      shapes: { out: ["${write('rows')}", "${write('columns')}"], x: ["${write('rows')}", "${write('columns')}"] }
      dtypes: { out: f32, x: "${write('f32, i32 or u8')}" }
      layout: "${write('strides and alignment; whose memory')}"
      aliasing: "${write('which arguments may be the same memory')}"
      threads: "${write('who may call it, and what it spreads over ctx.pool')}"
      errors: "${write('each error and what the caller sees; none, and whose duty that is')}"
# stands_for: another contract, whose header and place it takes where applies_when holds; most have no such line.
# Contracts whose header this one includes.
requires: [runtime.context, "${write('or nothing more')}"]
# Constants of config.h that the header or a realization uses.
config: ["${write('constants, or an empty list')}"]
numerics:
  accumulate: "${write('how sums are kept')}"
  # The same as in gate.yaml.
  tolerance: { nmse: "${write('number')}", max_abs: "${write('number')}" }
invariants:
  - { id: "${write('name')}", says: "${write('what always holds')}", gate: "gate.yaml#${write('case')}" }
# Of knowledge/failure-modes, by id.
failure_modes: ["${write('fm-NN, or an empty list')}"]
gates: [gate.yaml, "${write('trace, logits … where a whole engine shows it too, or nothing more')}"]
sabotage: ["${write('mistakes that must turn a gate red')}"]
sources: ["${write('paper with equation, or file with version; something that others can open')}"]
---
## Meaning
${write('the exact formula, with every symbol defined, and what it is not')}

## Steps
1. ${write('pseudo-code, one step a line, until every output is written; the order of sums; where ties go')}

## Example
${write('small numbers worked out by hand, input and output')}

## Edges
${write('none, one and most rows; odd sizes; zeros, infinities, NaN; what lies behind the end; aliased arguments')}

## Cost
${write('bytes moved and operations for one call, and what that means beside the rest of a layer')}

## What people get wrong
- ${write('the mistake, how far off it is, and which case sees it')}
`;
}

function headerText(id: string): string {
  return `// SPDX-License-Identifier: MIT
// ${id}: ${write('what it does, in one line')}
#pragma once
#include "runtime_context.h"

// ${write('what the function computes, in one line, with units')}
${signature.replace('View out', `View out /*[${write('rows, columns')}]*/`).replace('View x', `View x /*[${write('rows, columns')}]*/`)}
`;
}

function referenceText(): string {
  return `import type { ReferenceOps } from '../../../src/model/reference.ts';

// ${write('the meaning in float64, as plain functions; it shares no code with a realization')}

export const ops: ReferenceOps = {
  // ${write('an entry for each op that gate.yaml names')}
};
`;
}

function gateText(id: string): string {
  return `contract: ${id}
# Each entry changes constants of the small base model; {} is the base itself.
configs:
  - {}
tolerance: { nmse: "${write('number')}", max_abs: "${write('number')}" }
cases:
  - id: "${write('name, as in row_local')}"
    op: "${write('op of reference.ts')}"
    says: "${write('what only this case sees')}"
    inputs:
      x: { shape: ["${write('asymmetric dimensions, numbers or constants of config.h')}"], fill: normal, scale: 1 }
  # ${write('more cases: one row and many, sizes that no vector divides, each edge of contract.md, row_local with rows_alone')}
`;
}

function shimText(header: string): string {
  return `// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "${header}"

void run_case(ShimCase& c) {
  // ${write('take c.in and c.numbers of one case, call the symbols of the header, leave the outputs in c.out')}
}
`;
}
