import { lexCpp } from './cpp-lexer.ts';

/**
 * The source with every comment, string literal and character literal replaced by spaces; line breaks stay, so
 * offsets and line numbers are those of the original.
 */
export function stripCommentsAndStrings(source: string): string {
  return lexCpp(source)
    .map(({ kind, start, end }) => {
      const text = source.slice(start, end);
      return kind === 'comment' || kind === 'literal' ? text.replace(/[^\n]/g, ' ') : text;
    })
    .join('');
}
