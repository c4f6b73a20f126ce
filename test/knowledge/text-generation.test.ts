import { describe, expect, it } from 'vitest';
import { buildDriver, runDriver } from './text-driver.ts';

const program = buildDriver('generation-driver.cpp', [
  'text-utf8/portable',
  'text-stop/portable',
  'sampling-token/portable',
  'text-generation/portable',
]);

interface Scripted {
  readonly prompt: readonly number[];
  /** Tokens that follow the prompt. */
  readonly answer: readonly number[];
  readonly maxTokens?: number;
  readonly ignoreEos?: boolean;
  readonly stops?: readonly string[];
}

/** max_context is 12, max_rows 4, tokens 30 and 31 end the text. */
function generate({ prompt, answer, maxTokens = 100, ignoreEos = false, stops = [] }: Scripted) {
  const script = [...prompt.slice(1), ...answer];
  const numbers = [prompt.length, ...prompt, maxTokens, ignoreEos ? 1 : 0, ...script];
  const payload = Buffer.concat([
    Buffer.from(Int32Array.from([numbers.length, ...numbers]).buffer),
    Buffer.from(stops.map((stop) => `${stop}\n`).join('')),
  ]);
  const reply = runDriver(program, [], [{ op: 0, flags: 0, payload }])[0]!.toString();
  if (reply.startsWith('!')) return { error: reply.slice(1) };
  const [reason, ids, calls, chunks, text] = reply.split('\u001f');
  return { reason, ids: ids === '' ? [] : ids!.split(',').map(Number), calls: calls!.trim(), chunks, text };
}

const letters = (count: number): number[] => Array.from({ length: count }, (_, index) => index % 26);

describe('text.generation', () => {
  it.each([
    [1, '1:1@0'],
    [3, '3:1@0'],
    [4, '4:1@0'],
    [5, '4:0@0 1:1@4'],
    [8, '4:0@0 4:1@4'],
    [9, '4:0@0 4:0@4 1:1@8'],
  ])('feeds a prompt of %i in calls of at most max_rows and asks for one row of logits', (length, calls) => {
    expect(generate({ prompt: letters(length), answer: [7], maxTokens: 1 })).toMatchObject({
      calls,
      ids: [7],
    });
  });

  it('feeds each token at the position behind the one before', () => {
    const { calls } = generate({ prompt: [0, 1], answer: [2, 3, 4], maxTokens: 3 });
    expect(calls).toBe('2:1@0 1:1@2 1:1@3');
  });

  it.each([
    [12, 1],
    [11, 2],
    [5, 8],
  ])('fills the context behind a prompt of %i with %i tokens', (length, count) => {
    const { reason, ids } = generate({ prompt: letters(length), answer: letters(count) });
    expect({ reason, ids }).toEqual({ reason: 'length', ids: letters(count) });
  });

  it.each([30, 31])('ends at end-of-text token %i without showing it', (end) => {
    expect(generate({ prompt: [0], answer: [7, 8, end, 9] })).toMatchObject({
      reason: 'eos',
      ids: [7, 8, end],
      text: 'hi',
      chunks: 'h|i||',
    });
  });

  it('goes on past end-of-text tokens where they are ignored', () => {
    const { reason, ids } = generate({ prompt: [0], answer: [7, 30, 8], maxTokens: 3, ignoreEos: true });
    expect({ reason, ids }).toEqual({ reason: 'length', ids: [7, 30, 8] });
  });

  it('cuts text and stream before a stop string that spans tokens', () => {
    expect(generate({ prompt: [0], answer: [0, 28, 29, 1], stops: ['STOP'] })).toMatchObject({
      reason: 'stop',
      ids: [0, 28, 29],
      text: 'a',
      chunks: 'a|||',
    });
  });

  it('shows held-back text with the last token when nothing completes it', () => {
    expect(generate({ prompt: [0], answer: [0, 28], maxTokens: 2, stops: ['STOP'] })).toMatchObject({
      reason: 'length',
      text: 'aSTO',
      chunks: 'a|STO|',
    });
    expect(generate({ prompt: [0], answer: [28, 30], stops: ['STOP'] })).toMatchObject({
      reason: 'eos',
      text: 'STO',
    });
  });

  it('holds back half a character and ends with U+FFFD where it stays half', () => {
    expect(generate({ prompt: [0], answer: [26, 27, 0], maxTokens: 3 })).toMatchObject({
      chunks: '|é|a|',
      text: 'éa',
    });
    expect(generate({ prompt: [0], answer: [0, 26], maxTokens: 2 })).toMatchObject({
      chunks: 'a|\ufffd|',
      text: 'a\ufffd',
    });
  });

  it('does nothing for max_tokens 0', () => {
    expect(generate({ prompt: [0], answer: [], maxTokens: 0 })).toEqual({
      reason: 'length',
      ids: [],
      calls: '',
      chunks: '',
      text: '',
    });
  });

  it.each<[string, Scripted, RegExp]>([
    ['an empty prompt', { prompt: [], answer: [] }, /prompt has 0 tokens; expected 1 to 12/],
    ['a prompt beyond the context', { prompt: letters(13), answer: [0] }, /13 tokens; expected 1 to 12/],
    ['an empty stop string', { prompt: [0], answer: [0], stops: [''] }, /stop: an empty string/],
  ])('refuses %s', (_, request, message) => {
    expect(generate(request).error).toMatch(message);
  });
});
