import type { AnswerOrigin, ModelAnswer, ModelRequest } from '../../model/language-model.ts';
import { completePart, type PartOutcome } from './complete-part.ts';
import { joinParts } from './join-parts.ts';
import { type AnswerReader, createAnswerReader, type ReadAnswer } from './read-answer.ts';
import { redactSecret } from './redact.ts';
import { settingsOf } from './request-key.ts';
import type { Session } from './session.ts';

/** How often an answer that was cut off is continued. */
const mostContinuations = 2;

type AnsweredPart = Extract<PartOutcome, { kind: 'answered' }>;

/** One question, its continuations included. */
export async function askModel(
  session: Session,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const reader = createAnswerReader(request.expects);
  const parts: AnsweredPart[] = [];
  let written = '';
  for (let number = 0; number <= mostContinuations; number++) {
    const part = await completePart(session, request, number, written, signal);
    if (part.kind === 'refused') {
      const origin = parts.length === 0 ? null : originOf(session, request, parts);
      return { kind: 'refusal', reason: part.reason, message: part.message, origin };
    }
    parts.push(part);
    // A key may have been told in two halves.
    written = redactSecret(joinParts(written, part.text), session.apiKey);
    // Nothing but thoughts: going on would begin anew.
    if (part.finishReason !== 'length' || reader.withoutThoughts(written) === '') break;
  }
  const answer = withoutSecret(readParts(reader, parts, written), session.apiKey);
  return { ...answer, origin: originOf(session, request, parts) };
}

/** A key that was written in escapes of JSON stands plainly in what was read. */
function withoutSecret(answer: ReadAnswer, secret: string | undefined): ReadAnswer {
  if (secret === undefined) return answer;
  const text = JSON.stringify(answer);
  const clean = redactSecret(text, JSON.stringify(secret).slice(1, -1));
  return clean === text ? answer : (JSON.parse(clean) as ReadAnswer);
}

/** Asked to go on, some models write the whole once more: then the last part alone is the answer. */
function readParts(reader: AnswerReader, parts: readonly AnsweredPart[], written: string): ReadAnswer {
  const last = parts.at(-1)!;
  const joined = reader.read(written, last.finishReason);
  if (joined.kind !== 'refusal' || parts.length === 1) return joined;
  const alone = reader.read(last.text, last.finishReason);
  return alone.kind === 'refusal' ? joined : alone;
}

function originOf(session: Session, request: ModelRequest, parts: readonly AnsweredPart[]): AnswerOrigin {
  const sum = (pick: (part: AnsweredPart) => number) => parts.reduce((total, part) => total + pick(part), 0);
  return {
    model: settingsOf(session.settings, request.role).model,
    requestSha256: parts[0]!.key,
    leftOut: parts[0]!.leftOut,
    usage: {
      promptTokens: sum(({ usage }) => usage?.promptTokens ?? 0),
      cachedTokens: sum(({ usage }) => usage?.cachedTokens ?? 0),
      completionTokens: sum(({ usage }) => usage?.completionTokens ?? 0),
    },
    seconds: sum(({ seconds }) => seconds),
    isRepeated: parts.every(({ isRepeated }) => isRepeated),
  };
}
