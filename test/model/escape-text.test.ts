import fc from 'fast-check';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { describe, expect, it } from 'vitest';
import { table } from '../../src/delivery/markdown.ts';
import {
  codeBlock,
  codeSpan,
  inlineText,
  messageLines,
  messageText,
  shorten,
} from '../../src/model/escape-text.ts';

const options = { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] };

function toHtml(markdown: string): string {
  return micromark(markdown, options);
}

/** What a reader sees, without the zero-width spaces that we put in. */
function visible(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('\u200b', '');
}

const pieces = [
  ...[
    '`',
    '``',
    '```',
    '~~~',
    '*',
    '**',
    '_',
    '__',
    '[',
    ']',
    '(',
    ')',
    '![',
    '](',
    '<',
    '>',
    '<!--',
    '-->',
    '|',
    '\\',
  ],
  ...[
    '@octocat',
    '#12',
    'GH-3',
    'closes ',
    'https://evil.example',
    'www.evil.example',
    'a@b.example',
    '<img src=x>',
  ],
  ...[
    '- ',
    '1. ',
    '# ',
    '> ',
    '---',
    '===',
    '&amp;',
    '&#35;',
    '$',
    '[^1]',
    ':',
    ' ',
    'word',
    'É',
    '😀',
    '\n',
    '\t',
    '</details>',
  ],
];
const hostile = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(''));
const seen = (text: string) => text.replace(/\s+/g, ' ').trim();

describe('inlineText', () => {
  it('shows any text as exactly that text, in one paragraph without markup', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const html = toHtml(inlineText(text));
        expect(visible(html).trim()).toBe(seen(text));
        expect(html.replace(/<\/?p>/g, '')).not.toMatch(/<[a-z/!]/i);
      }),
      { numRuns: 250 },
    );
  });

  it('keeps its place in a table, whatever stands in it', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const html = toHtml(table(['a', 'b'], [[inlineText(text), codeSpan(text, 'cell')]]));
        expect(html.match(/<td/g)).toHaveLength(2);
        expect(html.match(/<tr/g)).toHaveLength(2);
      }),
      { numRuns: 120 },
    );
  });

  it('mentions nobody, references nothing and links nowhere', () => {
    const text = inlineText(
      'thanks @octocat and @acme/team, closes #12, GH-3, see https://evil.example and www.x.example',
    );
    expect(toHtml(text)).not.toMatch(/@\w|#\d|GH-\d|https:|www\./);
    expect(visible(toHtml(text))).toContain('thanks @octocat and @acme/team, closes #12, GH-3');
    expect(toHtml(text)).not.toContain('<a');
  });

  it('shows what would hide in a line or turn it around', () => {
    expect(inlineText('a\u202eb\u200bc\u0007d')).toBe('a\\\\u{202e}b\\\\u{200b}c\\\\u{7}d');
  });

  it('leaves ordinary messages readable in their source', () => {
    expect(inlineText("error: 'rms_norm' was not declared; expected 8 GB (2^30)")).toBe(
      "error: 'rms_norm' was not declared; expected 8 GB (2^30)",
    );
  });
});

describe('codeSpan and codeBlock', () => {
  it('hold any text inside one code element', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const span = toHtml(`x ${codeSpan(text)} y`);
        expect(span).toMatch(/^<p>x <code>[^<]*<\/code> y<\/p>$/);
        expect(span.match(/<code/g)).toHaveLength(1);
        const block = toHtml(codeBlock(text, 'text'));
        expect(block).toMatch(/^<pre><code class="language-text">[^<]*<\/code><\/pre>$/);
      }),
      { numRuns: 120 },
    );
  });

  it('leave out terminal colours', () => {
    expect(codeBlock('\u001b[01;31merror:\u001b[0m no')).toBe('```\nerror: no\n```');
  });
});

describe('messageText and messageLines', () => {
  it('keep code in backticks and lists, and nothing else', () => {
    const html = toHtml(messageLines('Use `/metainfer retry`, not **this**.\n- one <b>\n- two @all'));
    expect(html).toContain('<code>/metainfer retry</code>');
    expect(html).not.toMatch(/<strong>|<b>/);
    expect(html.match(/<li>/g)).toHaveLength(2);
  });

  it('keep the blanks between words and code', () => {
    expect(messageText('Add `a` to `b`.')).toBe('Add `a` to `b`.');
  });

  it('say how many lines they leave out', () => {
    expect(messageLines('- a\n- b\n- c', 2)).toBe('- a\n- b\n- … and 1 more');
  });
});

describe('shorten', () => {
  it('never leaves half of a surrogate pair', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, length) => {
        expect(shorten(text, length)).toSatisfy((short: string) => short.length <= Math.max(length, 1));
        expect(shorten(`${text}😀😀😀`, length)).not.toMatch(/\p{Cs}/u);
      }),
    );
  });
});
