import type { BegunCall } from '../../model/completion-ledger.ts';
import type { ModelRequest } from '../../model/language-model.ts';
import { describeFormat, responseFormat } from './answer-format.ts';
import { deliveryOf, samplingOf } from './dialect.ts';
import { fitPrompt } from './fit-prompt.ts';
import { settingsOf } from './request-key.ts';
import type { CompletionBody } from './send-completion.ts';
import { type Session, traitsOf } from './session.ts';
import { shortestAnswer } from './spend-guard.ts';

const goOn =
  'Your answer was cut off. Continue exactly where it stopped: repeat nothing, explain nothing, open no new block.';

export interface ComposedPrompt {
  readonly messages: BegunCall['messages'];
  /** Of which the endpoint counts tokens. */
  readonly texts: readonly string[];
  readonly promptTokens: number;
  /** What the context leaves for the answer, at most what the settings allow. */
  readonly longestAnswer: number;
  readonly leftOut: readonly string[];
  readonly isStructured: boolean;
}

export type PromptComposition = ComposedPrompt | { readonly tooLong: string };

/** The messages of one call, as much of them as the context holds. `written` is an answer so far that is to be continued. */
export function composePrompt(session: Session, request: ModelRequest, written: string): PromptComposition {
  const role = settingsOf(session.settings, request.role);
  const { dialect, estimator } = traitsOf(session, role.model);
  const format = describeFormat(request.expects, dialect.structured);
  const continuation = written === '' ? [] : [written, goOn];
  // A schema would make the rest of an answer a new whole one.
  const isStructured = dialect.structured && written === '';
  const schema = isStructured ? [JSON.stringify(responseFormat(request.expects))] : [];
  const others = [request.system, format, ...continuation, ...schema];
  const wanted = Math.min(
    role.maxOutputTokens,
    dialect.longestAnswer ?? role.maxOutputTokens,
    Math.floor(dialect.contextTokens / 2),
  );
  for (const least of [wanted, Math.min(wanted, shortestAnswer)]) {
    const room = dialect.contextTokens - least - estimator.estimate(others);
    const fitted = fitPrompt(request.sections, room, (text) => estimator.estimate([text]));
    if (fitted === undefined) continue;
    const texts = [...others, fitted.text];
    const promptTokens = estimator.estimate(texts);
    return {
      messages: toMessages(request.system, `${fitted.text}\n\n${format}`, continuation),
      ...{ texts, promptTokens, leftOut: fitted.leftOut, isStructured },
      longestAnswer: Math.min(wanted, dialect.contextTokens - promptTokens),
    };
  }
  return { tooLong: describeOverflow(session, request, others) };
}

function toMessages(system: string, user: string, continuation: readonly string[]): BegunCall['messages'] {
  const [written, next] = continuation;
  const first = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
  if (written === undefined || next === undefined) return first;
  return [...first, { role: 'assistant', content: written }, { role: 'user', content: next }];
}

function describeOverflow(session: Session, request: ModelRequest, others: readonly string[]): string {
  const { dialect, estimator } = traitsOf(session, settingsOf(session.settings, request.role).model);
  const needed = request.sections.filter(({ priority }) => priority === 0).map(({ text }) => text);
  const tokens = estimator.estimate([...others, ...needed]);
  return `What cannot be left out of the prompt is about ${tokens} tokens long, and the context holds ${dialect.contextTokens} for prompt and answer. Use a model with a longer context, or raise the limit of the server and context_tokens in the settings.`;
}

/** The request as it is sent. */
export function toBody(
  session: Session,
  request: ModelRequest,
  prompt: ComposedPrompt,
  longestAnswer: number,
): CompletionBody {
  const role = settingsOf(session.settings, request.role);
  const { dialect } = traitsOf(session, role.model);
  return {
    model: role.model,
    messages: prompt.messages,
    [dialect.lengthName]: longestAnswer,
    ...samplingOf(role, dialect),
    ...(prompt.isStructured ? { response_format: responseFormat(request.expects) } : {}),
    ...deliveryOf(dialect),
  } as unknown as CompletionBody;
}
