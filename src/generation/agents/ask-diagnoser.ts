import { z } from 'zod';
import type { AgentFile } from '../../model/agent-work.ts';
import type { AnswerOrigin, LanguageModel, PromptSection } from '../../model/language-model.ts';
import type { Finding } from '../../model/report.ts';
import type { ContractBrief } from './contract-brief.ts';
import { renderPrompt } from './prompt-files.ts';
import { contractSection, fence } from './prompt-sections.ts';

/** A contract that may be to blame, and what speaks for it. */
export interface Suspect {
  readonly contract: string;
  readonly evidence: string | readonly string[];
}

export interface DiagnoserTask {
  /** Likeliest first, as far as it could be told without a model. */
  readonly suspects: readonly Suspect[];
  readonly findings: readonly Finding[];
  /** Of the suspects. */
  readonly briefs: readonly ContractBrief[];
  /** Of the suspects, as far as agents wrote them. */
  readonly files: readonly Pick<AgentFile, 'contract' | 'path' | 'text'>[];
}

export interface Diagnosis {
  /** Likeliest first; those that the model left out keep their order behind it. */
  readonly ranking: readonly { readonly contract: string; readonly reason: string | null }[];
  /** Why the model's word could not be used; null where it was. */
  readonly note: string | null;
  readonly origin: AnswerOrigin | null;
}

const RankingAnswer = z.object({
  suspects: z.array(z.object({ contract: z.string(), reason: z.string() })).max(1000),
});

/** All keys required and none besides: what every endpoint's strict mode understands. */
const rankingSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['suspects'],
  properties: {
    suspects: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['contract', 'reason'],
        properties: { contract: { type: 'string' }, reason: { type: 'string' } },
      },
    },
  },
} as const;

/** Asks a model to rank suspects among whom nothing else can decide. Ids that it makes up are dropped. */
export async function askDiagnoser(
  task: DiagnoserTask,
  ports: {
    readonly model: LanguageModel;
    readonly phase: string;
    /** Of the run: which diagnosis this is. */
    readonly attempt: number;
    readonly signal: AbortSignal;
  },
): Promise<Diagnosis> {
  const answer = await ports.model.ask(
    {
      role: 'diagnoser',
      contract: null,
      phase: ports.phase,
      attempt: ports.attempt,
      ...diagnoserPrompt(task),
      expects: { kind: 'json', name: 'ranking', schema: rankingSchema },
    },
    ports.signal,
  );
  const unchanged = task.suspects.map(({ contract }) => ({ contract, reason: null }));
  if (answer.kind === 'refusal') {
    return { ranking: unchanged, note: `${answer.reason}: ${answer.message}`, origin: answer.origin };
  }
  const parsed = answer.kind === 'json' ? RankingAnswer.safeParse(answer.value).data : undefined;
  if (parsed === undefined) {
    return { ranking: unchanged, note: 'the ranking does not fit its schema', origin: answer.origin };
  }
  const open = new Set(task.suspects.map(({ contract }) => contract));
  const ranked = parsed.suspects
    .filter(({ contract }) => open.delete(contract))
    .map(({ contract, reason }) => ({ contract, reason: reason.slice(0, 1000) }));
  const rest = unchanged.filter(({ contract }) => open.has(contract));
  const note = ranked.length === 0 ? 'the ranking names none of the suspects' : null;
  return { ranking: [...ranked, ...rest], note, origin: answer.origin };
}

export function diagnoserPrompt(task: DiagnoserTask): { system: string; sections: PromptSection[] } {
  const ids = task.suspects.map(({ contract }) => contract).join(', ');
  const list = task.suspects
    .map(({ contract, evidence }) => JSON.stringify({ contract, evidence }))
    .join('\n');
  return {
    system: renderPrompt('diagnoser', {}),
    sections: [
      { title: 'Suspects', text: `suspects: ${ids}\n${list}`, priority: 0 },
      {
        title: 'Findings',
        text: task.findings.map((finding) => JSON.stringify(finding)).join('\n'),
        priority: 0,
      },
      ...task.files.map(({ contract, path, text }) => ({
        title: `Code of ${contract}: ${path}`,
        text: fence(text, 'cpp'),
        priority: 1,
      })),
      ...task.briefs.map((brief) => ({
        title: `Contract ${brief.id}`,
        text: contractSection(brief).text.replace(/^contract: /, 'about '),
        priority: 2,
      })),
    ],
  };
}
