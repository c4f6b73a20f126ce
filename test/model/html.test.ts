import { describe, expect, it } from 'vitest';
import { html, trustMarkup } from '../../src/model/html.ts';

describe('html', () => {
  it('escapes values in text and in quoted attributes', () => {
    const value = `<a href='x'>"&`;
    expect(html`<p title="${value}">${value}</p>`.markup).toBe(
      '<p title="&lt;a href=&#39;x&#39;&gt;&quot;&amp;">&lt;a href=&#39;x&#39;&gt;&quot;&amp;</p>',
    );
  });

  it('keeps markup of its own, joins lists and shows nothing for what is absent', () => {
    const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
    expect(html`<ol>${items}${null}${undefined}${false}${0}${trustMarkup('<hr>')}</ol>`.markup).toBe(
      '<ol><li>a</li><li>&lt;b&gt;</li>0<hr></ol>',
    );
  });

  it('replaces control characters, which no page may hold, and keeps tabs and line breaks', () => {
    expect(html`${'a\u0000\u001b\tb\r\n'}`.markup).toBe('a\uFFFD\uFFFD\tb\r\n');
  });
});
