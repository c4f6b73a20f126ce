import type { SelectedContract } from '../model/catalog.ts';
import type { LlmSettings } from '../model/llm-settings.ts';
import type { ContractCost } from '../model/plan.ts';
import { orderForAgents } from './agent-phases.ts';

/** What of the settings bears on cost. */
export type CostSettings = Pick<LlmSettings, 'model' | 'roles' | 'prices' | 'review' | 'limits'>;

/** English and C++ alike; a tokenizer of one's own is nearer to 3.5. */
const bytesPerToken = 4;
/** Rules, platform, failure modes and the form of the answer, in every prompt of an implementer. */
const frameTokens = 2500;
/** A prompt holds a required header and what is said of it; measured over the prompts of the examples. */
const perRequiredHeader = 2.5;
/** Bytes of code per byte of contract: the median of the realizations is 0.52, and a first version is longer. */
const codePerContract = 0.8;
/** Every other contract is expected to need a second attempt. */
const attempts = 1.5;
/** Clauses of a contract, each with a verdict. */
const reviewTokens = 900;

interface Expectation {
  readonly cost: ContractCost;
  /** The reviewer's part of it, which may have another price. */
  readonly review: { readonly promptTokens: number; readonly outputTokens: number };
}

/**
 * Expected tokens of every contract that agents write, in the order of writing: from verified runs where evidence has
 * their figures, else from the contract's size.
 */
export function expectCosts(
  contracts: readonly SelectedContract[],
  platform: string,
  review: boolean,
): Expectation[] {
  const byId = new Map(contracts.map((entry) => [entry.contract.frontMatter.id, entry]));
  return orderForAgents(contracts).map(({ entry, phase }) => {
    const head = { contract: entry.contract.frontMatter.id, phase };
    const known = measuredCost(entry, platform);
    if (known !== undefined) {
      return { cost: { ...head, ...known }, review: { promptTokens: 0, outputTokens: 0 } };
    }
    return estimateOne(entry, byId, head, review);
  });
}

function estimateOne(
  entry: SelectedContract,
  byId: ReadonlyMap<string, SelectedContract>,
  head: Pick<ContractCost, 'contract' | 'phase'>,
  hasReview: boolean,
): Expectation {
  const { frontMatter, body, header } = entry.contract;
  const own = bytesOf(JSON.stringify(frontMatter)) + bytesOf(body) + bytesOf(header.text);
  const required = entry.requires.reduce(
    (sum, id) => sum + bytesOf(byId.get(id)?.contract.header.text ?? ''),
    0,
  );
  const code = (own * codePerContract) / bytesPerToken;
  const prompt = (own + perRequiredHeader * required) / bytesPerToken + frameTokens;
  const review = hasReview
    ? {
        promptTokens: Math.round(attempts * (prompt + code)),
        outputTokens: Math.round(attempts * reviewTokens),
      }
    : { promptTokens: 0, outputTokens: 0 };
  return {
    cost: {
      ...head,
      promptTokens: Math.round(attempts * prompt) + review.promptTokens,
      outputTokens: Math.round(attempts * code) + review.outputTokens,
      basis: "the contract's size",
    },
    review,
  };
}

/** Mean over the verified runs on this platform whose figures say what agents needed. */
function measuredCost(
  { contract }: SelectedContract,
  platform: string,
): Pick<ContractCost, 'promptTokens' | 'outputTokens' | 'basis'> | undefined {
  const runs = contract.evidence.flatMap(({ figures, applies }) => {
    const { agent_prompt_tokens: prompt, agent_output_tokens: output } = figures;
    const where = [applies['hardware.platform']].flat();
    return prompt === undefined || output === undefined || !where.includes(platform)
      ? []
      : [{ prompt, output }];
  });
  if (runs.length === 0) return undefined;
  const mean = (values: readonly number[]) =>
    Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
  return {
    promptTokens: mean(runs.map(({ prompt }) => prompt)),
    outputTokens: mean(runs.map(({ output }) => output)),
    basis: `measured: ${runs.length} run${runs.length === 1 ? '' : 's'}`,
  };
}

/** US dollars, or null where a model that is asked has no price. */
export function priceOf(expected: readonly Expectation[], settings: CostSettings | undefined): number | null {
  if (expected.length === 0) return 0;
  if (settings === undefined) return null;
  const price = (role: 'implementer' | 'reviewer') =>
    settings.prices[settings.roles[role]?.model ?? settings.model];
  const [implementer, reviewer] = [price('implementer'), price('reviewer')];
  const isReviewed = expected.some(({ review }) => review.promptTokens > 0);
  if (implementer === undefined || (isReviewed && reviewer === undefined)) return null;
  return expected.reduce((sum, { cost, review }) => {
    const prompt = (cost.promptTokens - review.promptTokens) * implementer.input;
    const output = (cost.outputTokens - review.outputTokens) * implementer.output;
    const checked =
      review.promptTokens * (reviewer?.input ?? 0) + review.outputTokens * (reviewer?.output ?? 0);
    return sum + (prompt + output + checked) / 1e6;
  }, 0);
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
