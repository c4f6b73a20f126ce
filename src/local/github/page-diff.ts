import { type Html, type HtmlValue, html } from '../../model/html.ts';
import type { ReviewComment } from './conversation-data.ts';
import { parsePatch } from './diff-lines.ts';
import type { PullFile } from './pull-diff.ts';

/** Where a diff's lines lead to: the file as it is at the head. */
export interface DiffOptions {
  fileUrl(path: string): string;
  /** Comments on a line or a file; a reply follows what it answers. */
  readonly comments: readonly ReviewComment[];
  showComment(comment: ReviewComment): Html;
}

/** Every file of a diff, with the comments at their lines. */
export function showFiles(files: readonly PullFile[], options: DiffOptions): HtmlValue {
  return files.map((file) => showFile(file, options));
}

function showFile(file: PullFile, options: DiffOptions): Html {
  const own = options.comments.filter((comment) => comment.path === file.path && !comment.isOutdated);
  const atFile = own.filter((comment) => comment.place === null).map(options.showComment);
  const name = file.previousPath === null ? file.path : `${file.previousPath} → ${file.path}`;
  return html`<section class="box" id="${fileAnchor(file.path)}">
<div class="head"><a href="${options.fileUrl(file.path)}">${name}</a> <span class="soft">${file.status},</span> <span class="good">+${file.additions}</span> <span class="bad">−${file.deletions}</span></div>
${atFile.length > 0 && html`<div class="body">${atFile}</div>`}
${file.patch === undefined ? html`<div class="body soft">No text to compare: binary, moved as it is, or too large.</div>` : showPatch(file.patch, { ...options, comments: own })}</section>
`;
}

export function fileAnchor(path: string): string {
  return `file-${path}`;
}

const signs: Readonly<Record<string, string>> = { '+': 'add', '-': 'del' };

/** A patch as a table: number in the old file, number in the new one, text; comments below their lines. */
export function showPatch(
  patch: string,
  options: { readonly lastLines: number } | Pick<DiffOptions, 'comments' | 'showComment'>,
): Html {
  const { lines, texts } = parsePatch(patch);
  const byPosition = new Map(lines.map((line) => [line.position, line]));
  const rows = texts.map((text, position) => {
    const line = byPosition.get(position);
    const kind = line === undefined ? 'hunk' : (signs[text[0]!] ?? '');
    const talk = 'comments' in options && line !== undefined && showTalk(line, options);
    return html`<tr class="${kind}"><td class="line">${line?.left}</td><td class="line">${line?.right}</td><td>${text}</td></tr>
${talk}`;
  });
  const shown = 'lastLines' in options ? rows.slice(-options.lastLines) : rows;
  return html`<table class="code"><tbody>${shown}</tbody></table>`;
}

function showTalk(
  line: { readonly left: number | null; readonly right: number | null },
  { comments, showComment }: Pick<DiffOptions, 'comments' | 'showComment'>,
): Html | false {
  const here = comments.filter(
    ({ place }) => place !== null && line[place.side === 'LEFT' ? 'left' : 'right'] === place.line,
  );
  return here.length > 0 && html`<tr><td colspan="3" class="talk">${here.map(showComment)}</td></tr>`;
}
