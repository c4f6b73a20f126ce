import type { ExpectedAnswer, RefusalReason } from '../../model/language-model.ts';
import { type AnswerFile, invalidCharacter, parseFiles } from './parse-files.ts';
import { compileSchema, parseJson } from './parse-json.ts';
import { quoteText } from './quote-text.ts';

/** An answer without where it came from. */
export type ReadAnswer =
  | { readonly kind: 'files'; readonly files: readonly AnswerFile[] }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly reason: RefusalReason; readonly message: string };

export interface AnswerReader {
  read(text: string, finishReason: string): ReadAnswer;
  /** The text without reasoning that some servers leave in it. */
  withoutThoughts(text: string): string;
}

export function createAnswerReader(expects: ExpectedAnswer): AnswerReader {
  const check = expects.kind === 'json' ? compileSchema(expects.schema) : undefined;
  return {
    withoutThoughts,
    read(written, finishReason) {
      const text = withoutThoughts(written);
      const refusal = refusalOf(finishReason, text);
      if (refusal !== undefined) return refusal;
      const answer = expects.kind === 'files' ? readFiles(text, expects) : readJson(text, check!);
      const isProse = answer.kind === 'refusal' && answer.reason === 'unreadable';
      return isProse && looksDeclined(text) ? declined(text) : answer;
    },
  };
}

function withoutThoughts(text: string): string {
  return text
    .replace(/^\ufeff/, '')
    .replace(/^\s*<think(?:ing)?>[\s\S]*?(?:<\/think(?:ing)?>|$)/, '')
    .trim();
}

function refuse(reason: RefusalReason, message: string): ReadAnswer & { kind: 'refusal' } {
  return { kind: 'refusal', reason, message };
}

/** What the way in which the answer ended says, before its text is looked at. */
function refusalOf(finishReason: string, text: string): ReadAnswer | undefined {
  switch (finishReason) {
    case 'refusal':
      return declined(text);
    case 'content_filter':
      return refuse('declined', 'A content filter of the endpoint stopped the answer.');
    case 'too-long':
      return refuse('too-long', `${sentence(text)} Answer with the file alone, and write less.`);
    case 'prompt-cut':
      return refuse(
        'context-overflow',
        'The endpoint counted far fewer tokens than the prompt has: it cuts prompts that are too long for it without saying so. Raise its context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx), or lower context_tokens in the settings to what it has.',
      );
    case 'length':
      return text === ''
        ? refuse(
            'truncated',
            'All tokens of the answer went into reasoning. Raise max_output_tokens, or lower reasoning_effort.',
          )
        : refuse(
            'truncated',
            'The answer was cut off at the token limit, and continuing did not complete it. Write a shorter file: fewer comments, no alternatives.',
          );
    default:
      return text === '' ? refuse('empty', 'The answer was empty.') : undefined;
  }
}

function readFiles(text: string, expects: Extract<ExpectedAnswer, { kind: 'files' }>): ReadAnswer {
  const reading = parseFiles(text, expects);
  return reading.isRead ? { kind: 'files', files: reading.files } : refuse(reading.reason, reading.message);
}

function readJson(text: string, check: (value: unknown) => string | undefined): ReadAnswer {
  const reading = parseJson(text, check);
  if (!reading.isRead) return refuse('unreadable', reading.message);
  const fault = invalidCharacter(textsIn(reading.value).join(' ').replace(/\r\n/g, '\n'));
  return fault === undefined
    ? { kind: 'json', value: reading.value }
    : refuse('invalid-text', `The answer holds ${fault}.`);
}

/** Names and texts anywhere in a value of JSON; in it escapes hide what may not be there. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsIn(inner)]);
}

function looksDeclined(text: string): boolean {
  return (
    text.length < 800 &&
    /^["'*\s]*(?:i['’]?m sorry|i am sorry|sorry|i apologi[sz]e|unfortunately|i (?:can(?:no|['’])t|cannot|won['’]?t|am unable|['’]?m unable)|as an ai)/i.test(
      text,
    )
  );
}

function declined(text: string): ReadAnswer & { kind: 'refusal' } {
  return refuse('declined', `The model declined: ${JSON.stringify(quoteText(text))}`);
}

function sentence(text: string): string {
  return text === '' ? 'The answer was too long.' : `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
