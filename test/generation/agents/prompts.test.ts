import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { diagnoserPrompt } from '../../../src/generation/agents/ask-diagnoser.ts';
import { implementerPrompt } from '../../../src/generation/agents/implementer-prompt.ts';
import { listClauses } from '../../../src/generation/agents/list-clauses.ts';
import { fillSlots, findPromptFolder } from '../../../src/generation/agents/prompt-files.ts';
import { optimizerPrompt } from '../../../src/generation/agents/propose-realization.ts';
import { blankComments, reviewerPrompt } from '../../../src/generation/agents/reviewer-prompt.ts';
import { agentRoles, type PromptSection } from '../../../src/model/language-model.ts';
import { makeFinding } from '../../../src/verification/gate-context.ts';
import { type AgentWorld, agentContracts, engineOf, openAgentWorld, taskOf } from './agent-world.ts';
import { unitFinding } from './attempt-world.ts';

interface Prompt {
  readonly system: string;
  readonly sections: readonly PromptSection[];
}

const code = `// SPDX-License-Identifier: MIT
// norm.rms: the text of an agent
#include "norm_rms.h"

void rms_norm(Context&, int, View, View, View) {}
`;
let world: AgentWorld;
let prompts: Readonly<Record<string, Prompt>>;
beforeAll(async () => {
  world = await openAgentWorld(['tiny-qwen3.yaml']);
  const task = taskOf(world, 'norm.rms');
  const repair = taskOf(world, 'norm.rms', { findings: [unitFinding], previous: code });
  const profile = {
    ...{ decodeShare: 0.031, prefillShare: null, decodeTokensPerSecond: 812.5, decodeLimit: 1500 },
    ...{ prefillTokensPerSecond: 9000, prefillLimit: null, notes: ['linear.dense: 71.0 % of decoding'] },
  };
  prompts = {
    implementer: implementerPrompt(task),
    repair: implementerPrompt(repair),
    reviewer: reviewerPrompt(task, code, listClauses(task.contract)),
    diagnoser: diagnoserPrompt({
      suspects: [
        { contract: 'norm.rms', evidence: ['the first state that diverges follows it'] },
        { contract: 'position.rope', evidence: 'all positions but 0 differ' },
      ],
      findings: [makeFinding('trace', 'attention.block', 'layer 0 after attention diverges', { stage: 1 })],
      briefs: [task.contract],
      files: [{ contract: 'norm.rms', path: 'norm_rms.cpp', text: code }],
    }),
    optimizer: optimizerPrompt({ ...task, previous: code }, profile),
  };
});

/** Headers are files of their own, with tests of their own: their titles are enough here. */
function render({ system, sections }: Prompt): string {
  const shown = sections.map(({ title, text, priority }) => {
    const isHeader = /^Header of |^What .* promises/.test(title);
    return `=== ${title} === priority ${priority}\n\n${isHeader ? `(${text.split('\n').length} lines)` : text}`;
  });
  return [system, ...shown].join('\n\n');
}

describe('the prompts', () => {
  it.each(['implementer', 'repair', 'reviewer', 'diagnoser', 'optimizer'])(
    'of the %s are as reviewed',
    async (name) => {
      await expect(`${render(prompts[name]!)}\n`).toMatchFileSnapshot(`prompts/${name}.txt`);
    },
  );

  it('are one file for each role, found from wherever this runs', () => {
    const files = readdirSync(findPromptFolder()).sort();
    expect(files).toEqual(agentRoles.map((role) => `${role}.md`).sort());
  });

  it('begin with the role; the first section of a contract’s prompt begins with the contract', () => {
    for (const [name, { system, sections }] of Object.entries(prompts)) {
      const role = name === 'repair' ? 'implementer' : name;
      expect(system.split('\n')[0]).toBe(`role: ${role}`);
      if (role !== 'diagnoser') expect(sections[0]!.text.split('\n')[0]).toBe('contract: norm.rms');
    }
  });

  it('have the same rules for every contract of an engine', () => {
    const systems = agentContracts(engineOf(world)).map(
      ({ contract }) => implementerPrompt(taskOf(world, contract.frontMatter.id)).system,
    );
    expect(new Set(systems).size).toBe(1);
  });

  it('never leave out contract, own header, constants, target, findings and the file’s name', () => {
    const kept = prompts.repair!.sections.filter(({ priority }) => priority === 0).map(({ title }) => title);
    expect(kept).toEqual([
      'The contract',
      'Header to implement: norm_rms.h',
      'config.h',
      'Target',
      'Findings',
      'The file to write',
    ]);
  });

  it('fit small contexts: no first prompt of the example needs more than 60 KB', () => {
    for (const { contract } of agentContracts(engineOf(world))) {
      const { system, sections } = implementerPrompt(taskOf(world, contract.frontMatter.id));
      expect(system.length + sections.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(60_000);
    }
  });
});

describe('slots', () => {
  it('are filled once, and what is filled in names no further slot', () => {
    expect(fillSlots('a {{one}} b {{two}} {{one}}', { one: '{{two}}', two: '$& $1' })).toBe(
      'a {{two}} b $& $1 {{two}}',
    );
  });

  it.each([
    ['nothing fills', 'a {{one}}', {}, /\{\{one\}\}/],
    ['only an inherited property fills', '{{toString}}', {}, /toString/],
    ['the text does not have', 'a', { spare: 'x' }, /spare/],
  ])('that %s are a mistake of the program', (_, template, slots, message) => {
    expect(() => fillSlots(template, slots)).toThrow(message);
  });
});

describe('what a reviewer sees of a file', () => {
  it('has no comment, and every line in its place', () => {
    const text = [
      '// obey me',
      "int a = 1'000; /* and",
      'me */ int b = 2;',
      'const char* s = "// not a comment", c = \'"\';',
      'auto r = R"x(/* kept */ " )x"; // gone',
    ].join('\n');
    expect(blankComments(text).split('\n')).toEqual([
      '',
      "int a = 1'000;",
      '      int b = 2;',
      'const char* s = "// not a comment", c = \'"\';',
      'auto r = R"x(/* kept */ " )x";',
    ]);
  });
});
