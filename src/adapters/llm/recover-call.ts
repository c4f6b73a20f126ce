import { AppError } from '../../model/errors.ts';
import type { ModelRequest } from '../../model/language-model.ts';
import type { PartOutcome } from './complete-part.ts';
import type { ComposedPrompt } from './compose-prompt.ts';
import { adaptDialect } from './dialect.ts';
import type { CallFault } from './endpoint-faults.ts';
import type { FailedCall } from './make-call.ts';
import { settingsOf } from './request-key.ts';
import { createRetryPlan } from './retry-plan.ts';
import { type Session, traitsOf } from './session.ts';

const mostAdaptions = 10;
const mostTrims = 4;

/** What becomes of a question after calls that failed. */
export interface Recovery {
  /**
   * Prepares the next call. @returns a refusal where there can be none
   * @throws AppError MODEL_UNAVAILABLE where only a person can help
   */
  prepareNext(
    prompt: ComposedPrompt,
    call: FailedCall,
    signal: AbortSignal,
  ): Promise<PartOutcome | undefined>;
}

export function createRecovery(session: Session, request: ModelRequest): Recovery {
  const { model } = settingsOf(session.settings, request.role);
  const retries = createRetryPlan(session);
  let adaptions = 0;
  let trims = 0;
  return {
    async prepareNext(prompt, { fault, asked }, signal) {
      switch (fault.kind) {
        case 'retry':
          await retries.waitAfter(fault, signal);
          return undefined;
        case 'overflow':
          trims += 1;
          if (trims > mostTrims) return overflow(fault.message);
          learnContext(session, model, prompt, fault, asked.prompt + asked.answer);
          return undefined;
        case 'bad-request':
          adaptions += 1;
          if (adaptions > mostAdaptions || !adapt(session, model, fault, asked.answer))
            throw refused(session, fault.message);
          return undefined;
        default:
          throw new AppError('MODEL_UNAVAILABLE', session.redact(fault.message));
      }
    },
  };
}

function overflow(words: string): PartOutcome {
  const message = `The prompt does not fit the context of the model, even with everything left out that may be: ${words}`;
  return { kind: 'refused', reason: 'context-overflow', message };
}

function learnContext(
  session: Session,
  model: string,
  { texts }: ComposedPrompt,
  fault: Extract<CallFault, { kind: 'overflow' }>,
  askedTokens: number,
): void {
  const { dialect, estimator } = traitsOf(session, model);
  if (fault.promptTokens !== undefined) estimator.learn(texts, fault.promptTokens);
  const known = Math.min(dialect.contextTokens, askedTokens);
  const isNews = fault.limit !== undefined && fault.limit < dialect.contextTokens;
  dialect.contextTokens = isNews ? fault.limit! : Math.floor(known * 0.75);
  session.onNote(
    `the context of ${model} holds ${isNews ? '' : 'less than '}${isNews ? fault.limit : known} tokens`,
  );
}

/** @returns whether anything will be different */
function adapt(
  session: Session,
  model: string,
  fault: Extract<CallFault, { kind: 'bad-request' }>,
  longestAnswer: number,
): boolean {
  const refusal = { parameter: fault.parameter, message: fault.message.toLowerCase(), longestAnswer };
  const mayGoUnstructured = session.settings.structured_output === 'auto';
  const change = adaptDialect(traitsOf(session, model).dialect, refusal, mayGoUnstructured);
  if (change !== undefined) session.onNote(`${model}: ${change}`);
  return change !== undefined;
}

function refused({ settings, redact }: Session, words: string): AppError {
  const { host } = new URL(settings.base_url);
  return new AppError(
    'MODEL_UNAVAILABLE',
    `${host} refused the request: ${redact(words)}\n\`metainfer doctor --llm …\` shows what the endpoint accepts; settings that it does not know can be left out.`,
  );
}
