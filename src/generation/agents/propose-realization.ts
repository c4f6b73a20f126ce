import type { AgentFile } from '../../model/agent-work.ts';
import type { AnswerOrigin, LanguageModel, PromptSection } from '../../model/language-model.ts';
import { toAgentFile } from './attempt-contract.ts';
import { checkAgentFile, maxFileBytes } from './check-agent-file.ts';
import type { ContractTask } from './contract-task.ts';
import { fileSection, ruleSlots } from './implementer-prompt.ts';
import { renderPrompt } from './prompt-files.ts';
import {
  configSection,
  contractSection,
  fence,
  headerSections,
  ownHeaderSection,
  requirementSections,
  variantSection,
} from './prompt-sections.ts';

/** Where the time of an engine goes, as far as it concerns one contract. */
export interface ContractProfile {
  /** Share of this contract in the time of a decoded token and of a prefill, 0 to 1; null where it was not measured. */
  readonly decodeShare: number | null;
  readonly prefillShare: number | null;
  /** Measured and at the physical limit, whole engine. */
  readonly decodeTokensPerSecond: number | null;
  readonly decodeLimit: number | null;
  readonly prefillTokensPerSecond: number | null;
  readonly prefillLimit: number | null;
  /** Further figures, one a line: other contracts' shares, what earlier proposals came to. */
  readonly notes: readonly string[];
}

export type Proposal =
  | { readonly kind: 'file'; readonly file: AgentFile; readonly origin: AnswerOrigin }
  /** `budget` and `context-overflow`: nothing more can be asked. */
  | {
      readonly kind: 'none';
      readonly reason: string;
      readonly message: string;
      readonly origin: AnswerOrigin | null;
    };

/** Asks for a faster text of one contract's file; `task.previous` is its present text. Whether it is any good, gates and benchmark say. */
export async function proposeRealization(
  task: ContractTask,
  profile: ContractProfile,
  ports: {
    readonly model: LanguageModel;
    readonly phase: string;
    readonly attempt: number;
    readonly signal: AbortSignal;
  },
): Promise<Proposal> {
  const answer = await ports.model.ask(
    {
      role: 'optimizer',
      contract: task.contract.id,
      phase: ports.phase,
      attempt: ports.attempt,
      ...optimizerPrompt(task, profile),
      expects: { kind: 'files', paths: [task.path], maxBytes: maxFileBytes },
    },
    ports.signal,
  );
  const { origin } = answer;
  if (answer.kind === 'refusal')
    return { kind: 'none', reason: answer.reason, message: answer.message, origin };
  const file = toAgentFile(task, ports.attempt, answer);
  if (file === undefined) {
    return {
      kind: 'none',
      reason: 'wrong-path',
      message: `there is no file ${task.path} in the answer`,
      origin,
    };
  }
  if (file.text.trim() === task.previous?.trim()) {
    return { kind: 'none', reason: 'unchanged', message: 'the model proposes no change', origin };
  }
  const [fault] = checkAgentFile(file, task);
  if (fault !== undefined) return { kind: 'none', reason: 'static', message: fault.message, origin };
  return { kind: 'file', file, origin: answer.origin };
}

export function optimizerPrompt(
  task: ContractTask,
  profile: ContractProfile,
): { system: string; sections: PromptSection[] } {
  return {
    system: renderPrompt('optimizer', ruleSlots(task)),
    sections: [
      contractSection(task.contract),
      ownHeaderSection(task.contract),
      configSection(task),
      variantSection(task),
      ...headerSections(task),
      ...requirementSections(task),
      { title: 'Profile', text: describeProfile(profile), priority: 0 },
      { title: `Present text of ${task.path}`, text: fence(task.previous ?? '', 'cpp'), priority: 0 },
      fileSection({ ...task, findings: [] }),
    ],
  };
}

function describeProfile(profile: ContractProfile): string {
  const share = (value: number | null) => (value === null ? 'not measured' : `${(100 * value).toFixed(1)} %`);
  const rate = (value: number | null, limit: number | null) => {
    if (value === null) return 'not measured';
    const part =
      limit === null
        ? ''
        : `, ${((100 * value) / limit).toFixed(1)} % of the physical limit of ${limit.toPrecision(4)}`;
    return `${value.toPrecision(4)} tokens/s${part}`;
  };
  return [
    `Share of this contract: decoding ${share(profile.decodeShare)}, prefill ${share(profile.prefillShare)}.`,
    `Engine, decoding: ${rate(profile.decodeTokensPerSecond, profile.decodeLimit)}.`,
    `Engine, prefill: ${rate(profile.prefillTokensPerSecond, profile.prefillLimit)}.`,
    ...profile.notes,
  ].join('\n');
}
