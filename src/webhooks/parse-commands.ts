import type { ParsedCommand } from '../model/github.ts';
import { nearestName } from '../model/nearest-name.ts';
import { type CommandDescription, commandTable } from './command-table.ts';
import { type MarkdownNode, readMarkdown, unquotedBlocks, withoutInvisible } from './markdown-blocks.ts';

/** More in one comment is a mistake or worse. */
const maxCommands = 5;

/** `/metainfer` at the start of a line; Markdown doesn't see up to three spaces. */
const commandLine = /^ {0,3}\/metainfer(?!\S)/i;

/**
 * The commands of a comment: lines that begin with `/metainfer` as a reader sees them, outside code, quotations and
 * HTML. A line that can't be understood is given too, with a sentence for its writer; never throws.
 */
export function parseCommands(body: string): ParsedCommand[] {
  const visible = withoutInvisible(body);
  if (!/\/metainfer/i.test(visible)) return [];
  const { root, text } = readMarkdown(visible);
  const lines = splitLines(text);
  const written = unquotedBlocks(root).flatMap((block) => commandLinesOf(block, lines));
  const parsed = written.slice(0, maxCommands).map(parseLine);
  const rest = written[maxCommands];
  if (rest === undefined) return parsed;
  return [
    ...parsed,
    refuse(rest, `a comment may hold ${maxCommands} commands; this and what follows was left alone.`),
  ];
}

interface Line {
  readonly text: string;
  readonly start: number;
}

function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  for (const match of text.matchAll(/([^\r\n]*)(?:\r\n|\r|\n|$)/g))
    lines.push({ text: match[1]!, start: match.index });
  return lines;
}

/** An underline of dashes, as in the signature of an e-mail, makes a heading of the line above: it counts as text. */
function commandLinesOf(block: MarkdownNode, lines: readonly Line[]): string[] {
  if (block.type !== 'paragraph' && block.type !== 'heading') return [];
  const hidden = block.children.filter(({ type }) => type === 'inlineCode' || type === 'html');
  const isHidden = ({ start }: Line): boolean =>
    hidden.some(({ position }) => position!.start.offset! < start && start < position!.end.offset!);
  return lines
    .slice(block.position!.start.line - 1, block.position!.end.line)
    .filter((line) => commandLine.test(line.text) && !isHidden(line))
    .map((line) => line.text.trim());
}

function parseLine(line: string): ParsedCommand {
  const names = commandTable.map(({ name }) => name);
  const [prefix, word, ...rest] = splitWords(line);
  if (prefix !== '/metainfer') return refuse(line, 'write it in lower case: /metainfer.');
  if (word === undefined) return refuse(line, `a command is missing; there are ${names.join(', ')}.`);
  const command = commandTable.find(({ name }) => name === word);
  if (command === undefined) {
    return refuse(
      line,
      `${show(word)} is no command${didYouMean(word, names)}; there are ${names.join(', ')}.`,
    );
  }
  return command.freeText === undefined
    ? parseArguments(line, command, rest)
    : readFreeText(line, command, command.freeText);
}

/** What somebody wrote in their own words: one line, without characters that nobody sees. */
function readFreeText(
  line: string,
  { name, example }: CommandDescription,
  { maximum }: NonNullable<CommandDescription['freeText']>,
): ParsedCommand {
  const written = line.replace(/^\S+\s+\S+\s*/, '');
  const what = written.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ').trim();
  if (what === '') return refuse(line, `${name} needs to know what is wrong, as in: ${example}`);
  if (what.length <= maximum) return { kind: 'command', name, arguments: { what } };
  return refuse(
    line,
    `${what.length} characters follow ${name}, and it takes up to ${maximum}; please shorten it.`,
  );
}

/** Words at spaces; a value may stand in quotes: `key="two words"`. */
function splitWords(line: string): string[] {
  return line.match(/[^\s"'=]+=(?:"[^"]*"|'[^']*')(?!\S)|\S+/g) ?? [];
}

function parseArguments(line: string, command: CommandDescription, words: readonly string[]): ParsedCommand {
  const given: Record<string, string> = {};
  const keys = Object.keys(command.arguments);
  for (const word of words) {
    const [, key, quoted] = /^([^=]*)=(.*)$/s.exec(word) ?? [];
    if (key === undefined || quoted === undefined) return refuse(line, strayWord(command, word));
    if (!Object.hasOwn(command.arguments, key)) return refuse(line, unknownKey(command, key, keys));
    if (Object.hasOwn(given, key)) return refuse(line, `${key} is given twice.`);
    const value = /^(["'])(.*)\1$/s.exec(quoted)?.[2] ?? quoted;
    const allowed = command.arguments[key]!;
    if (!allowed.includes(value)) {
      return refuse(
        line,
        `${key} is ${show(value)}${didYouMean(value, allowed)}; it may be ${allowed.join(' or ')}.`,
      );
    }
    given[key] = value;
  }
  return { kind: 'command', name: command.name, arguments: given };
}

function strayWord({ name, arguments: allowed }: CommandDescription, word: string): string {
  const near = nearestName(word, Object.values(allowed).flat());
  const key = Object.keys(allowed).find(
    (candidate) => near !== undefined && allowed[candidate]!.includes(near),
  );
  const hint = key === undefined ? '' : `; did you mean ${key}=${near}?`;
  const rule = hint === '' ? '; the command stands alone on its line.' : '';
  return `${show(word)} after ${name} is not understood${hint}${rule}`;
}

function unknownKey({ name }: CommandDescription, key: string, keys: readonly string[]): string {
  const known = keys.length === 0 ? 'it takes none' : `it takes ${keys.join(', ')}`;
  return `${name} has no argument ${show(key)}${didYouMean(key, keys)}; ${known}.`;
}

function didYouMean(written: string, candidates: readonly string[]): string {
  const near = nearestName(written, candidates);
  return near === undefined ? '' : `, did you mean ${near}?`;
}

function show(word: string): string {
  return `"${word.length > 40 ? `${Array.from(word.slice(0, 200)).slice(0, 39).join('')}…` : word}"`;
}

function refuse(line: string, message: string): ParsedCommand {
  return {
    kind: 'not-understood',
    line: line.length > 120 ? `${Array.from(line.slice(0, 400)).slice(0, 119).join('')}…` : line,
    message,
  };
}
