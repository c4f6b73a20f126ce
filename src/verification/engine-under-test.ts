import type { Selection } from '../model/catalog.ts';
import type { Constraints } from '../model/constraints.ts';
import type { ModelFacts, TokenizerFacts } from '../model/model-facts.ts';
import { sourceNameOf } from '../model/source-name.ts';
import type { EngineContract, EngineUnderTest } from './gate-context.ts';

/**
 * What the gates need to know of an engine folder: the contracts come from the knowledge, the code under test from
 * the folder alone.
 */
export function describeEngine(input: {
  readonly folder: string;
  readonly constraints: Constraints;
  readonly facts: ModelFacts;
  readonly tokenizer: TokenizerFacts;
  readonly selection: Selection;
  readonly vectorWidth: number;
  /** Contract folder → absolute path of its reference module. */
  readonly referencePath: (contractFolder: string) => string;
}): EngineUnderTest {
  const { constraints, selection } = input;
  const { max_batch, max_context } = constraints.serving;
  return {
    name: constraints.name,
    folder: input.folder,
    constraints,
    facts: input.facts,
    tokenizer: input.tokenizer,
    weightFormat: storedFormat(constraints.numerics.weights),
    onDevice: constraints.hardware.platform === 'cuda',
    vectorWidth: input.vectorWidth,
    // As the composer writes it to config.h; the engine's behaviour at this length is checked by `edges`.
    maxRows: Math.max(max_batch, Math.min(256, max_context)),
    contracts: describeContracts(selection, input.referencePath),
  };
}

function storedFormat(weights: Constraints['numerics']['weights']): EngineUnderTest['weightFormat'] {
  return weights === 'bf16' || weights === 'f16' ? weights : 'f32';
}

function describeContracts(
  selection: Selection,
  referencePath: (folder: string) => string,
): EngineContract[] {
  return selection.contracts.map(({ contract, realization, status, requires }) => {
    const { id, config, stands_for: standsFor } = contract.frontMatter;
    // A fused realization holds the symbols of the contracts that it replaces.
    const fused = selection.contracts.find((other) => other.realization?.replaces.includes(id));
    const replacing = status === 'replaced' && fused !== undefined ? [fused.contract.frontMatter.id] : [];
    const hasSource = realization !== undefined || status === 'agent';
    return {
      id,
      ...(standsFor === undefined ? {} : { standsFor }),
      header: contract.header.name,
      source: hasSource ? sourceNameOf({ contract, realization }) : null,
      requires: [...requires, ...replacing],
      isAgentWritten: status === 'agent',
      config,
      gate: contract.gate ?? null,
      shim: contract.shim?.text ?? null,
      reference: contract.hasReference ? referencePath(contract.folder) : null,
    };
  });
}
