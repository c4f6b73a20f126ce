/** The one style sheet of the pages: light and dark by the reader's setting, tables become cards on narrow screens. */
export const styleSheet = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --panel: #f6f8fa; --link: #0550ae;
  --good: #116329; --bad: #a40e26; --busy: #0550ae; --wait: #7d4e00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --text: #e6edf3; --soft: #9da7b3; --line: #3d444d; --panel: #161b22; --link: #79b8ff;
    --good: #56d364; --bad: #ff8e85; --busy: #79b8ff; --wait: #e3b341;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 68rem; margin: 0 auto; padding: 0.75rem 1rem; }
header { display: flex; gap: 1.5rem; align-items: baseline; border-bottom: 1px solid var(--line); }
header strong a { color: var(--text); text-decoration: none; }
footer { color: var(--soft); font-size: 0.875rem; border-top: 1px solid var(--line); margin-top: 2rem; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 1rem 0 0.25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 0.25rem; }
p { margin: 0.5rem 0; }
.soft { color: var(--soft); }
.state { font-weight: 600; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .busy { color: var(--busy); } .wait { color: var(--wait); }
.panel { background: var(--panel); border: 1px solid var(--line); border-left-width: 4px; border-radius: 4px; padding: 0.5rem 1rem; margin: 1rem 0; }
.panel h2 { margin: 0.25rem 0; }
.panel li:last-child { border: 0; }
.panel.bad { border-left-color: var(--bad); color: var(--text); }
.panel.wait { border-left-color: var(--wait); color: var(--text); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 4px; padding: 0.75rem; overflow: auto; max-height: 32rem; font: 0.8125rem/1.45 ui-monospace, monospace; unicode-bidi: isolate; }
code { font: 0.875em ui-monospace, monospace; overflow-wrap: anywhere; unicode-bidi: isolate; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
td .soft, td .text { overflow-wrap: anywhere; }
th { color: var(--soft); font-size: 0.875rem; font-weight: 600; }
td.figure, th.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; }
ol.steps { list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; padding: 0; margin: 0.75rem 0; }
ol.plain { list-style: none; padding: 0; margin: 0; }
ol.plain li { padding: 0.35rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
details { margin: 0.75rem 0; }
summary { cursor: pointer; font-weight: 600; }
figure { margin: 1rem 0; }
figure img { max-width: 100%; height: auto; background: #ffffff; border: 1px solid var(--line); border-radius: 4px; padding: 0.5rem; }
figcaption { color: var(--soft); font-size: 0.875rem; }
@media (max-width: 44rem) {
  table.cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.cards, table.cards tbody { display: block; }
  table.cards tr { display: block; border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
  table.cards td:first-child { font-weight: 600; }
  table.cards td, table.cards td.figure { display: block; border: 0; padding: 0.1rem 0; text-align: left; white-space: normal; }
  table.cards td[data-head]::before { content: attr(data-head) ': '; color: var(--soft); font-size: 0.875rem; }
}
`.trimStart();
