import type { ExpectedAnswer, RefusalReason } from '../../model/language-model.ts';
import { type FencedBlock, findFences } from './find-fences.ts';
import { jsonCandidates, parseOrNothing } from './parse-json.ts';
import { quoteText } from './quote-text.ts';

export interface AnswerFile {
  readonly path: string;
  readonly text: string;
}

export type FilesReading =
  | { readonly isRead: true; readonly files: readonly AnswerFile[] }
  | { readonly isRead: false; readonly reason: RefusalReason; readonly message: string };

type FilesExpected = Extract<ExpectedAnswer, { kind: 'files' }>;

/** The files of an answer, as JSON or in fences; prose around them is passed over. */
export function parseFiles(text: string, expects: FilesExpected): FilesReading {
  const found = filesInJson(text) ?? filesInFences(text, expects);
  if ('isRead' in found) return found;
  const files = found.map(({ path, text: body }) => ({
    path: path.replace(/^(?:\.\/)+/, ''),
    text: tidy(body),
  }));
  const wanted = expects.paths.join(', ');
  if (files.length === 0) return refuse('unreadable', `There is no file in the answer; expected ${wanted}.`);
  const stray = files.find(({ path }) => !expects.paths.includes(path));
  if (stray !== undefined) {
    return refuse(
      'wrong-path',
      `The answer holds a file ${showPath(stray.path)}; only ${wanted} may be written.`,
    );
  }
  const once = firstOfEach(files);
  const other = files.find((file) =>
    once.some(({ path, text: body }) => path === file.path && body !== file.text),
  );
  if (other !== undefined) {
    return refuse(
      'contradictory',
      `The answer holds several different versions of ${other.path}; expected it once.`,
    );
  }
  const missing = expects.paths.find((path) => !once.some((file) => file.path === path));
  if (missing !== undefined) return refuse('unreadable', `The file ${missing} is missing in the answer.`);
  return checkTexts(once, expects);
}

function refuse(reason: RefusalReason, message: string): FilesReading & { isRead: false } {
  return { isRead: false, reason, message };
}

function firstOfEach(files: readonly AnswerFile[]): readonly AnswerFile[] {
  return files.filter(({ path }, index) => files.findIndex((file) => file.path === path) === index);
}

function checkTexts(files: readonly AnswerFile[], { maxBytes }: FilesExpected): FilesReading {
  for (const { path, text } of files) {
    const bytes = Buffer.byteLength(text);
    if (text.trim() === '') return refuse('empty', `The file ${path} is empty.`);
    if (bytes > maxBytes) {
      return refuse(
        'too-long',
        `The file ${path} has ${bytes} bytes; at most ${maxBytes} are allowed. Write less.`,
      );
    }
    const fault = invalidCharacter(text);
    if (fault !== undefined) {
      return refuse(
        'invalid-text',
        `The file ${path} holds ${fault}; expected plain UTF-8. Write such bytes as escapes.`,
      );
    }
  }
  return { isRead: true, files };
}

/** What cannot stand in a source file, with its line. */
export function invalidCharacter(text: string): string | undefined {
  const match =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]|\p{Cs}/u.exec(
      text,
    );
  if (match === null) return undefined;
  const line = text.slice(0, match.index).split('\n').length;
  const code = match[0].charCodeAt(0).toString(16).padStart(4, '0').toUpperCase();
  const what = match[0] === '\ufffd' ? 'bytes that are no UTF-8 (U+FFFD)' : `the character U+${code}`;
  return `${what} on line ${line}`;
}

/** One kind of line end, one at the end. */
function tidy(text: string): string {
  return `${text.replace(/\r\n?/g, '\n').replace(/\n+$/, '')}\n`;
}

function showPath(path: string): string {
  return JSON.stringify(quoteText(path, 100));
}

/** `{"files": [{"path", "text"}]}`, whole or in a fence; undefined where there is no such thing. */
function filesInJson(text: string): readonly AnswerFile[] | undefined {
  for (const candidate of jsonCandidates(text)) {
    const value = parseOrNothing(candidate)?.value as { files?: unknown } | null | undefined;
    const files = Array.isArray(value) ? value : value?.files;
    if (Array.isArray(files) && files.length > 0 && files.every(isFile)) return files;
  }
  return undefined;
}

function isFile(value: unknown): value is AnswerFile {
  const { path, text } = (value ?? {}) as Record<string, unknown>;
  return typeof path === 'string' && typeof text === 'string';
}

const codeLanguages = ['', 'cpp', 'c++', 'cc', 'cxx', 'c', 'h', 'hpp', 'cuda', 'cu'];

/** Named blocks; where none has a name and one file is expected, the only block of code. */
function filesInFences(
  text: string,
  { paths }: FilesExpected,
): readonly AnswerFile[] | (FilesReading & { isRead: false }) {
  const blocks = findFences(text);
  const named = blocks.flatMap((block) => {
    const path = block.path ?? pathInFirstLine(block, paths);
    return path === undefined ? [] : [{ path, text: block.text }];
  });
  if (named.length > 0 || paths.length !== 1) return named;
  const code = blocks.filter(({ language }) => codeLanguages.includes(language));
  if (new Set(code.map((block) => tidy(block.text))).size > 1) {
    return refuse(
      'contradictory',
      `The answer holds ${code.length} different blocks of code without names; expected ${paths[0]} once.`,
    );
  }
  return code.slice(0, 1).map((block) => ({ path: paths[0]!, text: block.text }));
}

/** `// norm_rms.cpp` on the first line, where it is one of the names expected. */
function pathInFirstLine({ text }: FencedBlock, paths: readonly string[]): string | undefined {
  const comment = /^\s*(?:\/\/|\/\*|#)\s*(?:path\s*[=:]\s*|file\s*:\s*)?([\w./-]+)/.exec(text)?.[1];
  return paths.find((path) => path === comment);
}
