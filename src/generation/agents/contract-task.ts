import type { RepairFinding } from '../../model/agent-work.ts';
import type { Platform, Selection } from '../../model/catalog.ts';
import type { Constraints } from '../../model/constraints.ts';
import { findConfigReferences, tokenizeCpp } from '../../model/cpp-tokens.ts';
import type { EngineFile } from '../../model/engine.ts';
import { AppError } from '../../model/errors.ts';
import type { FailureMode } from '../../model/failure-mode.ts';
import type { ModelFacts, TokenizerFacts } from '../../model/model-facts.ts';
import { toTarget } from '../../model/target.ts';
import { availableContracts } from './available-contracts.ts';
import { briefContract, type ContractBrief, sourcePath } from './contract-brief.ts';

/**
 * All that the agents of one contract know. Made of briefs: no realization, no text of an issue, and no name that a
 * person wrote can be reached from here.
 */
export interface ContractTask {
  readonly contract: ContractBrief;
  /** The file to be written, within the engine folder. */
  readonly path: string;
  /** Contracts whose headers the file may include, in dependency order. */
  readonly available: readonly { readonly brief: ContractBrief; readonly isDirect: boolean }[];
  /** config.h as far as it concerns the contract and these headers; texts are left out. */
  readonly configText: string;
  /** Key of `applies` predicates → value: which variant of the contract is wanted. */
  readonly target: Readonly<Record<string, string | number | boolean>>;
  readonly sizes: Readonly<Record<string, number | string>>;
  readonly platform: {
    readonly id: string;
    readonly compiler: string;
    readonly flags: readonly string[];
    readonly vectorWidth: number;
  };
  readonly failureModes: readonly { readonly title: string; readonly text: string }[];
  /** Of the newest attempt, and what a person asked for. */
  readonly findings: readonly RepairFinding[];
  /** The agent's own newest text; null before the first. */
  readonly previous: string | null;
  /** Only in source-reference mode. */
  readonly sourceFiles: readonly EngineFile[];
}

export interface TaskInput {
  readonly selection: Selection;
  readonly failureModes: readonly FailureMode[];
  readonly platform: Platform;
  readonly constraints: Constraints;
  readonly facts: ModelFacts;
  readonly tokenizer: TokenizerFacts;
  readonly contractId: string;
  /** config.h with every constant that the selected contracts list. */
  readonly configHeader: string;
  readonly findings: readonly RepairFinding[];
  readonly previous: string | null;
  /** Ignored outside source-reference mode. */
  readonly sourceFiles?: readonly EngineFile[];
}

/** @throws AppError INTERNAL where the selection has no such contract, NOT_COVERED for an unknown instruction set */
export function buildContractTask(input: TaskInput): ContractTask {
  const { selection, constraints, contractId } = input;
  const entry = selection.contracts.find(({ contract }) => contract.frontMatter.id === contractId);
  if (entry === undefined) throw new AppError('INTERNAL', `${contractId} is not part of this engine.`);
  const contract = briefContract(entry.contract);
  const available = availableContracts(selection, contractId);
  const isFitted = constraints.generation.mode === 'source-reference';
  return {
    contract,
    path: sourcePath(contract),
    available,
    configText: selectConstants(input.configHeader, [contract, ...available.map(({ brief }) => brief)]),
    target: { ...toTarget(constraints, input.facts, input.tokenizer) },
    sizes: sizesOf(constraints, input.facts),
    platform: describePlatform(input.platform, constraints.hardware.arch),
    failureModes: input.failureModes
      .filter(({ slug, frontMatter }) =>
        contract.failureModes.some((name) => name === frontMatter.id || name === slug),
      )
      .map(({ frontMatter, body }) => ({
        title: frontMatter.title,
        text: `Symptom: ${frontMatter.symptom}\nCause: ${frontMatter.cause}\n\n${body.trim()}`,
      })),
    findings: input.findings.filter((finding) => finding.contract === contractId),
    previous: input.previous,
    sourceFiles: isFitted ? (input.sourceFiles ?? []) : [],
  };
}

/**
 * Lines of config.h with the constants that the contract may use or that a header shown with it uses. The value of a
 * text is left out: it may be a name that a person chose.
 */
function selectConstants(configHeader: string, shown: readonly ContractBrief[]): string {
  const [own] = shown;
  const wanted = new Set([
    ...(own?.config ?? []),
    ...shown.flatMap(({ header }) => [...findConfigReferences(tokenizeCpp(header.text)).keys()]),
  ]);
  const lines = configHeader.split('\n').flatMap((line) => {
    const [, declared, name] = /^(inline constexpr .*?\b(\w+)) = /.exec(line) ?? [];
    if (declared === undefined || name === undefined || !wanted.has(name)) return [];
    return [declared.includes('string_view') ? `${declared} = /* a text; its value is not shown */;` : line];
  });
  return lines.length === 0 ? '' : ['namespace config {', ...lines, '}  // namespace config'].join('\n');
}

function describePlatform(platform: Platform, arch: string): ContractTask['platform'] {
  const known = platform.archs[arch];
  if (known === undefined)
    throw new AppError('NOT_COVERED', `hardware.arch is not covered on ${platform.id}.`);
  return {
    id: platform.id,
    compiler: platform.compilers[0] ?? 'g++',
    flags: [...platform.flags, ...known.flags],
    vectorWidth: known.vectorWidth,
  };
}

function sizesOf({ hardware, serving, workload }: Constraints, facts: ModelFacts): ContractTask['sizes'] {
  return {
    layers: facts.numLayers,
    hidden_size: facts.hiddenSize,
    num_heads: facts.numHeads,
    num_kv_heads: facts.numKvHeads,
    head_dim: facts.headDim,
    intermediate_size: facts.intermediateSize,
    vocab_size: facts.vocabSize,
    threads: hardware.threads,
    max_context: serving.max_context,
    max_batch: serving.max_batch,
    prompt_tokens: workload.prompt_tokens,
    output_tokens: workload.output_tokens,
    concurrency: workload.concurrency,
  };
}
