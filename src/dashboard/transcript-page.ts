import type { RecordedCall } from '../model/completion-ledger.ts';
import { type Html, html } from '../model/html.ts';
import type { RunRecord } from '../model/run-record.ts';
import { grouped } from '../model/show-number.ts';
import { framePage } from './page-frame.ts';
import { nameOf } from './run-state.ts';

/** A page holds this much of each text; the file has all of it. */
const shownCharacters = 40_000;

/** Every question to a language model and what came back, in order. The ledger holds no keys. */
export function renderTranscriptPage(run: RunRecord, calls: readonly RecordedCall[]): string {
  const content = html`<h1>Run ${run.number}: what the model was asked</h1>
<p><a href="/runs/${run.number}">Back to the run</a> · <a href="/runs/${run.number}/transcript.json" download>All of it as a file</a></p>
${calls.length === 0 && html`<p>No model was asked anything yet.</p>`}
<ol class="plain">${calls.map(showCall)}</ol>`;
  const title = `Run ${run.number}: ${nameOf(run)}, transcript · MetaInfer`;
  return framePage(title, content, { isMoving: false });
}

/** The same for programs. */
export function renderTranscriptFile(run: RunRecord, calls: readonly RecordedCall[]): string {
  return `${JSON.stringify({ schema: 'metainfer/transcript/v1', run: run.id, calls }, null, 1)}\n`;
}

function showCall(call: RecordedCall, index: number): Html {
  const { role, contract, phase, model, messages, finished } = call;
  return html`<li><details><summary>${index + 1}. ${role} · <code>${contract ?? 'engine'}</code> · ${phase} · ${outcomeOf(call)}</summary>
<p class="soft">Asked ${model} at ${call.startedAt}.</p>
${messages.map((message) => html`<h3>${message.role}</h3><pre tabindex="0">${cut(message.content)}</pre>`)}
<h3>answer</h3>${finished === null ? html`<p>None yet: it is under way, or the program ended meanwhile and asked again.</p>` : html`<pre tabindex="0">${cut(finished.text)}</pre>`}
</details></li>
`;
}

function outcomeOf({ finished, reservedTokens }: RecordedCall): string {
  if (finished === null) return `no answer, ${grouped(reservedTokens)} tokens reserved`;
  const { usage, seconds, failure } = finished;
  const tokens =
    usage === null
      ? `${grouped(reservedTokens)} tokens reserved, none reported`
      : `${grouped(usage.promptTokens)} tokens in, ${grouped(usage.completionTokens)} out`;
  return `${failure === null ? '' : `broke off (${failure}), `}${tokens}, ${seconds.toFixed(1)} s`;
}

function cut(text: string): string {
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters)}\n… cut here`;
}
