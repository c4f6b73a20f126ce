import { shorten } from '../../model/escape-text.ts';

/** Text of an endpoint as it may stand in a message: one line without anything that steers a terminal or hides, cut. */
export function quoteText(text: string, longest = 300): string {
  return shorten(text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim(), longest);
}
