import { allowedAttributes, allowedStandardAttributes } from './code-names.ts';
import type { CppToken } from './cpp-tokens.ts';

type Tokens = readonly CppToken[];

const closings: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);

/** Where the brackets that open at `index` close; undefined where none do or they never close. */
export function findClosing(tokens: Tokens, index: number): number | undefined {
  if (!closings.has(tokens[index]?.text ?? '')) return undefined;
  const open: string[] = [];
  for (let at = index; at < tokens.length; at++) {
    const { text } = tokens[at]!;
    const inner = closings.get(text);
    if (inner !== undefined) open.push(inner);
    else if (text === open.at(-1)) open.pop();
    if (open.length === 0) return at;
  }
  return undefined;
}

/** The parts between commas of the brackets that open at `index`; undefined where none do or they never close. */
export function listArguments(tokens: Tokens, index: number): string[][] | undefined {
  const closing = closings.get(tokens[index]?.text ?? '');
  if (closing === undefined) return undefined;
  const parts: string[][] = [[]];
  const open = [closing];
  for (let at = index + 1; at < tokens.length; at++) {
    const { text } = tokens[at]!;
    const inner = closings.get(text);
    if (text === open.at(-1)) open.pop();
    else if (inner !== undefined) open.push(inner);
    if (open.length === 0) return parts.length === 1 && parts[0]!.length === 0 ? [] : parts;
    if (text === ',' && open.length === 1) parts.push([]);
    else parts.at(-1)!.push(text);
  }
  return undefined;
}

/** `[[name]]`: with a list, an argument or a namespace, each part must be one that is allowed. */
export function judgeBrackets(tokens: Tokens, index: number): string | undefined {
  if (tokens[index]!.text !== '[' || tokens[index + 1]?.text !== '[') return undefined;
  const parts = listArguments(tokens, index + 1) ?? [['?']];
  const bad = parts.find(
    ([name = '', next]) => !allowedStandardAttributes.has(name) || (next !== undefined && next !== '('),
  );
  return bad === undefined ? undefined : `the attribute [[${bad.join('').slice(0, 60)}]] is not allowed`;
}

/** `__attribute__((a, b(1)))`, at its first token. */
export function judgeAttribute(tokens: Tokens, index: number): string | undefined {
  const isList = tokens[index + 1]?.text === '(' && tokens[index + 2]?.text === '(';
  const parts = (isList ? listArguments(tokens, index + 2) : undefined) ?? [['?']];
  const bad = parts.find(
    ([name = '', next]) => !allowedAttributes.has(name) || (next !== undefined && next !== '('),
  );
  return bad === undefined ? undefined : `the attribute ${bad.join('').slice(0, 60)} is not allowed`;
}

/** Calls that are granted in one form only; taking the address of such a function is refused. */
const callShapes: Readonly<Record<string, { wanted: string; accept: (parts: string[][]) => boolean }>> = {
  open: {
    wanted: 'open(path, O_RDONLY | O_CLOEXEC)',
    accept: (parts) => parts.length === 2 && /^O_RDONLY(?:\|O_CLOEXEC)?$/.test(parts[1]!.join('')),
  },
  mmap: {
    wanted: 'mmap with PROT_READ or PROT_WRITE by name',
    accept: (parts) => parts.length === 6 && /^PROT_(?:READ|WRITE)(?:\|PROT_\w+)*$/.test(parts[2]!.join('')),
  },
  // Writing to a closed pipe is an error value then, not the end of the process; no other signal is touched.
  signal: {
    wanted: 'signal(SIGPIPE, SIG_IGN)',
    accept: (parts) => parts.join(';') === 'SIGPIPE;SIG_IGN',
  },
};

export function judgeGrantedCall(tokens: Tokens, index: number): string | undefined {
  const name = tokens[index]!.text;
  if (name === 'ifstream') return judgeReader(tokens, index);
  if (name === 'this_thread') {
    const isYield = ['::', 'yield', '('].every((text, step) => tokens[index + 1 + step]?.text === text);
    return isYield ? undefined : 'this_thread is not allowed but as std::this_thread::yield()';
  }
  const shape = Object.hasOwn(callShapes, name) ? callShapes[name] : undefined;
  if (shape === undefined) return undefined;
  const parts = tokens[index + 1]?.text === '(' ? listArguments(tokens, index + 1) : undefined;
  if (parts !== undefined && shape.accept(parts)) return undefined;
  return `${name} is not allowed but as ${shape.wanted}`;
}

/** A file stream for reading opens for writing as well once it is given a mode, or is another stream's base. */
function judgeReader(tokens: Tokens, index: number): string | undefined {
  const start = tokens[index - 1]?.text === '::' ? index - 3 : index - 1;
  const after = tokens[index + 1];
  const named = after?.kind === 'identifier' ? index + 2 : index + 1;
  const parts = listArguments(tokens, named);
  const mode = parts?.[1]?.join('').replace('ios_base', 'ios');
  const isBare = parts === undefined && after?.kind === 'identifier' && tokens[named]?.text === ';';
  const isReference = after?.text === '&';
  const isOpened =
    parts !== undefined && (parts.length < 2 || (parts.length === 2 && mode === 'std::ios::binary'));
  const isDerived = [':', ',', 'typedef', 'public', 'private', '<'].includes(tokens[start]?.text ?? '');
  if (!isDerived && (isBare || isReference || isOpened)) return undefined;
  return 'ifstream is not allowed but as std::ifstream name(path) or (path, std::ios::binary)';
}

const modeMembers: ReadonlySet<string> = new Set(['in', 'out', 'app', 'ate', 'trunc', 'binary', 'noreplace']);

/** In a file that may only read: whatever gives a stream's mode another value. */
export function judgeModes(tokens: Tokens, index: number): string | undefined {
  const { text } = tokens[index]!;
  const [scope, before] = [tokens[index - 2]?.text, tokens[index - 1]?.text];
  const isMember = before === '.' || before === '->';
  if (isMember && text === 'open' && (listArguments(tokens, index + 1)?.length ?? 2) !== 1)
    return 'open is not allowed but with a path alone';
  // Its place as a second argument is judged with the stream.
  const isBinary =
    text === 'binary' && (scope === 'ios' || scope === 'ios_base') && tokens[index - 5]?.text === ',';
  const isMode = modeMembers.has(text) && (isMember || before === '::') && !isBinary && scope !== 'std';
  return isMode || ['decltype', 'openmode', 'rdbuf'].includes(text)
    ? `${text} is not allowed in a file that reads files`
    : undefined;
}

/** Folders of the machine that the program runs on. */
const systemPath =
  /(?:^|[^\w.])\/(?:bin|boot|dev|etc|home|lib|lib64|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)(?:\/|$)|^~\/|(?:^|\/)\.\.\/|\/\.\.$/;

/** A literal, together with those that stand directly behind it. */
export function judgeLiteral(tokens: Tokens, index: number): string | undefined {
  if (tokens[index - 1]?.kind === 'literal') return undefined;
  let value = '';
  for (let at = index; tokens[at]?.kind === 'literal'; at++) value += literalValue(tokens[at]!.text);
  return systemPath.test(value) ? 'a path of the system or to a folder above is not allowed' : undefined;
}

function literalValue(text: string): string {
  const raw = /^\w*R"[^(]*\(([\s\S]*)\)[^)]*"$/.exec(text)?.[1];
  if (raw !== undefined) return raw;
  const quoted = text.replace(/^\w*["']|["']$/g, '');
  return quoted.replace(/\\(?:x([0-9A-Fa-f]+)|([0-7]{1,3})|u([0-9A-Fa-f]{4})|([\s\S]))/g, (...found) => {
    const [hex, octal, short, other] = found.slice(1, 5) as (string | undefined)[];
    if (other !== undefined) return other;
    const code = octal === undefined ? Number.parseInt(hex ?? short ?? '0', 16) : Number.parseInt(octal, 8);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '?';
  });
}
