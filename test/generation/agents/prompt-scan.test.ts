import { beforeAll, describe, expect, it } from 'vitest';
import { implementerPrompt } from '../../../src/generation/agents/implementer-prompt.ts';
import { listClauses } from '../../../src/generation/agents/list-clauses.ts';
import { reviewerPrompt } from '../../../src/generation/agents/reviewer-prompt.ts';
import type { Contract, Realization } from '../../../src/model/contract.ts';
import type { PromptSection } from '../../../src/model/language-model.ts';
import { fingerprint, sharedPart } from '../../../src/model/winnowing.ts';
import { type AgentWorld, agentContracts, exampleFiles, openAgentWorld, taskOf } from './agent-world.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await openAgentWorld();
});

function textOf({ system, sections }: { system: string; sections: readonly PromptSection[] }): string {
  return [system, ...sections.map(({ title, text }) => `${title}\n${text}`)].join('\n');
}

/** Every prompt from which an implementer of this example could learn something. */
function implementerTexts(file: string): { contract: string; text: string }[] {
  return agentContracts(world.engines.get(file)!).map(({ contract }) => {
    const { id } = contract.frontMatter;
    return { contract: id, text: textOf(implementerPrompt(taskOf(world, id, {}, file))) };
  });
}

/** Lines that say something of their own: no brace, no include, no licence. */
function tellingLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= 8 && !/^(?:#include|#pragma|\/\/ SPDX|```)/.test(line));
}

/** The first four telling lines of a realization that stand in the prompt one after the other. */
function findShared(realization: string, prompt: string): string[] | undefined {
  const seen = `\n${tellingLines(prompt).join('\n')}\n`;
  const lines = tellingLines(realization);
  const at = lines.findIndex((_, index) => {
    const run = lines.slice(index, index + 4);
    return run.length === 4 && seen.includes(`\n${run.join('\n')}\n`);
  });
  return at < 0 ? undefined : lines.slice(at, at + 4);
}

function allRealizations(): { contract: Contract; realization: Realization }[] {
  return world.catalog.contracts.flatMap((contract) =>
    contract.realizations.map((realization) => ({ contract, realization })),
  );
}

/** Contract texts and headers: the explicit knowledge that prompts are made of. */
function explicitKnowledge(): string {
  return world.catalog.contracts.map(({ body, header }) => `${body}\n${header.text}`).join('\n');
}

describe('the prompts of a zero-reference run', () => {
  it.each(exampleFiles)('hold no four lines of any realization, for %s', (file) => {
    const shared = implementerTexts(file).flatMap(({ contract, text }) =>
      allRealizations().flatMap(({ realization }) => {
        const lines = findShared(realization.text, text);
        return lines === undefined ? [] : [`${contract} shows ${realization.file}: ${lines.join(' / ')}`];
      }),
    );
    expect(shared).toEqual([]);
  });

  // Measured as the share of a realization's fingerprints (runs of 12 tokens, windows of 8) that the prompt holds and
  // that neither a contract's text nor a header holds.
  it.each(exampleFiles)('share less than a fifth of any realization, for %s', (file) => {
    const known = fingerprint(explicitKnowledge());
    const prompts = implementerTexts(file).map(({ contract, text }) => ({
      contract,
      prints: fingerprint(text),
    }));
    const shares = allRealizations().flatMap(({ contract, realization }) =>
      prompts
        .filter((prompt) => prompt.contract === contract.frontMatter.id)
        .map(({ prints }) => sharedPart(fingerprint(realization.text), prints, known)),
    );
    expect(shares.length).toBeGreaterThan(25);
    expect(Math.max(...shares)).toBeLessThanOrEqual(0.2);
  });

  it('would be caught showing a realization: both measures see one that is slipped in', () => {
    const [first] = agentContracts(world.engines.get('tiny-qwen3.yaml')!);
    const { id } = first!.contract.frontMatter;
    const realization = first!.contract.realizations[0]!;
    const text = `${textOf(implementerPrompt(taskOf(world, id)))}\n${realization.text}`;
    expect(findShared(realization.text, text)).toHaveLength(4);
    const known = fingerprint(explicitKnowledge());
    expect(sharedPart(fingerprint(realization.text), fingerprint(text), known)).toBeGreaterThan(0.9);
  });

  it('show a reviewer the code to judge and no realization', () => {
    for (const { contract } of agentContracts(world.engines.get('tiny-qwen3.yaml')!)) {
      const task = taskOf(world, contract.frontMatter.id);
      const text = textOf(reviewerPrompt(task, '// nothing\n', listClauses(task.contract)));
      for (const { realization } of allRealizations())
        expect(findShared(realization.text, text)).toBeUndefined();
    }
  });
});
