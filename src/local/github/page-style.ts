/** Style of the stand-in's pages: plain, light and dark by the reader's setting. */
export const pageStyle = `
:root { color-scheme: light dark; --page: #fff; --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --panel: #f6f8fa;
  --link: #0550ae; --good: #116329; --bad: #a40e26; --wait: #7d4e00; --add: #dafbe1; --del: #ffebe9; --hunk: #ddf4ff; --note: #fff8c5; }
@media (prefers-color-scheme: dark) { :root { --page: #0d1117; --text: #e6edf3; --soft: #9da7b3; --line: #3d444d;
  --panel: #161b22; --link: #79b8ff; --good: #56d364; --bad: #ff8e85; --wait: #e3b341; --add: #12361f; --del: #4a1a1d; --hunk: #12283f; --note: #3a2f0b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
.banner { background: var(--note); border-bottom: 1px solid var(--line); padding: 0.35rem 1rem; text-align: center; font-size: 0.875rem; }
main { max-width: 64rem; margin: 0 auto; padding: 0.5rem 1rem 4rem; }
a { color: var(--link); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0.75rem 0 0.25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 1.5rem 0 0.5rem; }
.soft { color: var(--soft); } .good { color: var(--good); } .bad { color: var(--bad); } .wait { color: var(--wait); }
.number { color: var(--soft); font-weight: 400; }
.tabs { display: flex; flex-wrap: wrap; gap: 1.25rem; border-bottom: 1px solid var(--line); margin: 1rem 0; padding-bottom: 0.4rem; }
.tabs [aria-current] { font-weight: 600; color: var(--text); text-decoration: none; }
.label { display: inline-block; border: 1px solid var(--line); border-radius: 1em; padding: 0 0.6em; font-size: 0.8125rem; }
.box { border: 1px solid var(--line); border-radius: 6px; margin: 1rem 0; overflow: hidden; }
.box > .head { background: var(--panel); border-bottom: 1px solid var(--line); padding: 0.4rem 0.9rem; overflow-wrap: anywhere; }
.box > .body { padding: 0.6rem 0.9rem; overflow-x: auto; }
.box > .foot { padding: 0 0.9rem 0.6rem; }
.event { margin: 0.75rem 0 0.75rem 1rem; color: var(--soft); }
ul.rows { list-style: none; margin: 0; padding: 0; }
ul.rows li { padding: 0.35rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.markdown > :first-child { margin-top: 0; } .markdown > :last-child { margin-bottom: 0; }
.markdown { overflow-wrap: break-word; }
.markdown h2 { border-bottom: 1px solid var(--line); }
.markdown table { border-collapse: collapse; display: block; margin: 0.5rem 0; overflow-x: auto; max-width: 100%; }
.markdown th, .markdown td { border: 1px solid var(--line); padding: 0.25rem 0.7rem; }
.markdown img { max-width: 100%; background: #fff; }
.markdown blockquote { margin: 0.5rem 0; padding-left: 1rem; border-left: 4px solid var(--line); color: var(--soft); }
pre { background: var(--panel); border-radius: 6px; padding: 0.7rem; overflow-x: auto; font: 12.5px/1.45 ui-monospace, monospace; }
code { font: 0.875em ui-monospace, monospace; }
:not(pre) > code { background: var(--panel); border-radius: 4px; padding: 0.1em 0.3em; }
code.language-mermaid::before { content: 'mermaid: GitHub draws this as a diagram'; display: block; color: var(--soft); margin-bottom: 0.4rem; }
code.language-suggestion::before { content: 'Suggested change'; display: block; color: var(--soft); margin-bottom: 0.4rem; }
details summary { cursor: pointer; }
table.code { border-collapse: collapse; width: 100%; font: 12.5px/1.45 ui-monospace, monospace; }
table.code td { padding: 0 0.5rem; white-space: pre-wrap; overflow-wrap: anywhere; vertical-align: top; }
table.code td.line { width: 1%; min-width: 3rem; text-align: right; color: var(--soft); user-select: none; white-space: nowrap; }
table.code tr:target { background: var(--note); }
tr.add { background: var(--add); } tr.del { background: var(--del); } tr.hunk { background: var(--hunk); color: var(--soft); }
table.code td.talk { white-space: normal; background: var(--page); padding: 0.25rem 1rem; font: 15px/1.5 system-ui, sans-serif; border-block: 1px solid var(--line); }
@media (max-width: 40rem) { table.code td.line { min-width: 0; padding: 0 0.25rem; } .event { margin-left: 0; } }
`.trimStart();
