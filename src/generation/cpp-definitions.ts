import type { CppToken } from '../model/cpp-tokens.ts';

/** Something that a C++ file defines at namespace or class scope. */
export interface CppDefinition {
  readonly kind: 'function' | 'type' | 'variable';
  readonly name: string;
  readonly line: number;
  /** Token range of the whole declaration, body included: a use inside it is no reference. */
  readonly from: number;
  readonly to: number;
  /** False for what the language itself calls or needs: constructors, destructors, operators. */
  readonly needsReference: boolean;
}

export interface CppOutline {
  readonly definitions: readonly CppDefinition[];
  /** Token indices at which a name is declared, not used. */
  readonly declarators: ReadonlySet<number>;
}

interface Scan {
  readonly tokens: readonly CppToken[];
  readonly definitions: CppDefinition[];
  readonly declarators: Set<number>;
}

/** Declaration as far as it was read: where its head ends and how. */
interface Head {
  /** Index of the `{` or `;` that ends the head, or of the `=` of an initialiser. */
  readonly end: number;
  /** Index of the declared function's name, where there is a parameter list. */
  readonly functionName: number | undefined;
}

const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
/** Keywords that take parentheses without declaring anything. */
const notNames = new Set([
  'alignas',
  '__attribute__',
  '__launch_bounds__',
  'decltype',
  'explicit',
  'noexcept',
  'requires',
  'static_assert',
]);

/** What the tokens of one file define; understands the C++ of the engine style, without macros. */
export function outlineCpp(tokens: readonly CppToken[]): CppOutline {
  const scan: Scan = { tokens, definitions: [], declarators: new Set() };
  scanScope(scan, 0, tokens.length, undefined);
  return scan;
}

function scanScope(scan: Scan, start: number, end: number, className: string | undefined): void {
  let at = start;
  while (at < end) at = Math.max(at + 1, scanDeclaration(scan, at, end, className));
}

/** Returns the index after the declaration. */
function scanDeclaration(scan: Scan, start: number, limit: number, className: string | undefined): number {
  const { tokens } = scan;
  const first = tokens[start]?.text ?? '';
  if (first === ';' || first === '}') return start + 1;
  if (/^(?:public|private|protected)$/.test(first)) return start + 2;
  const head = readHead(tokens, start, limit);
  const words = tokens.slice(start, head.end).map((token) => token.text);
  const ender = tokens[head.end]?.text;
  if (first === 'using' || first === 'typedef') return scanAlias(scan, start, limit);
  if (words.includes('namespace') || (first === 'extern' && tokens[start + 1]?.kind === 'literal')) {
    if (ender !== '{') return skipToSemicolon(tokens, head.end, limit);
    scanScope(scan, head.end + 1, closing(tokens, head.end), className);
    return closing(tokens, head.end) + 1;
  }
  if (head.functionName !== undefined) return scanFunction(scan, start, head, limit, className);
  const typeWord = words.findIndex((word) => /^(?:struct|class|union|enum)$/.test(word));
  if (typeWord >= 0 && ender !== '=') return scanType(scan, start, start + typeWord, head, limit);
  return scanVariable(scan, start, head, limit, className);
}

function readHead(tokens: readonly CppToken[], start: number, limit: number): Head {
  let functionName: number | undefined;
  let at = start;
  while (at < limit) {
    const text = tokens[at]?.text ?? '';
    const before = tokens[at - 1];
    if (text === ';' || text === '{') break;
    if (text === '=' && before?.text !== 'operator') break;
    if (text === '<' && at > start && before?.kind === 'identifier' && before.text !== 'operator') {
      at = closingAngle(tokens, at, limit) + 1;
    } else if (text === '(' || text === '[') {
      const operatorCall = before?.text === 'operator';
      if (text === '(' && functionName === undefined && !operatorCall && !notNames.has(before?.text ?? ''))
        functionName = at - 1;
      at = closing(tokens, at) + 1;
    } else if (text === ':' && functionName !== undefined) {
      return { end: skipInitialisers(tokens, at + 1, limit), functionName };
    } else at++;
  }
  return { end: at, functionName };
}

/** `: a_(a), b_{b} {` → index of the body's brace. */
function skipInitialisers(tokens: readonly CppToken[], start: number, limit: number): number {
  let at = start;
  while (at < limit) {
    while (at < limit && !/^[({]$/.test(tokens[at]?.text ?? '')) at++;
    at = closing(tokens, at) + 1;
    if (tokens[at]?.text !== ',') return at;
  }
  return at;
}

function scanFunction(
  scan: Scan,
  start: number,
  head: Head,
  limit: number,
  className: string | undefined,
): number {
  const { tokens } = scan;
  const nameAt = head.functionName ?? start;
  const name = tokens[nameAt]?.text ?? '';
  scan.declarators.add(nameAt);
  if (tokens[head.end]?.text !== '{') return skipToSemicolon(tokens, head.end, limit);
  const to = closing(tokens, head.end) + 1;
  const before = tokens[nameAt - 1]?.text;
  const owner = before === '::' ? tokens[nameAt - 2]?.text : className;
  // `X::f` in the head of a definition says where f belongs; it does not use X.
  if (before === '::') scan.declarators.add(nameAt - 2);
  const isOperator = tokens.slice(start, nameAt + 1).some((token) => token.text === 'operator');
  const isSpecial = name === owner || before === '~' || isOperator || name === 'main';
  const line = tokens[nameAt]?.line ?? 0;
  scan.definitions.push({ kind: 'function', name, line, from: start, to, needsReference: !isSpecial });
  return to;
}

function scanType(scan: Scan, start: number, keywordAt: number, head: Head, limit: number): number {
  const { tokens } = scan;
  const nameAt = typeNameAt(tokens, keywordAt, head.end);
  const name = tokens[nameAt]?.text ?? '';
  const ender = tokens[head.end]?.text;
  const isPlain =
    nameAt >= head.end - 1 || tokens[nameAt + 1]?.text === ':' || tokens[nameAt + 1]?.text === 'final';
  // The name of a plain enum only titles its constants.
  const isUnscopedEnum =
    tokens[keywordAt]?.text === 'enum' && !/^(?:class|struct)$/.test(tokens[keywordAt + 1]?.text ?? '');
  if (ender !== '{') {
    // `struct X;` declares a type, `struct X x;` a variable of it.
    if (isPlain) scan.declarators.add(nameAt);
    return skipToSemicolon(tokens, head.end, limit);
  }
  const bodyEnd = closing(tokens, head.end);
  const to = skipToSemicolon(tokens, bodyEnd + 1, limit);
  if (name !== '') {
    scan.declarators.add(nameAt);
    const line = tokens[nameAt]?.line ?? 0;
    const needsReference = isPlain && !isUnscopedEnum;
    scan.definitions.push({ kind: 'type', name, line, from: start, to, needsReference });
  }
  if (tokens[keywordAt]?.text !== 'enum') scanScope(scan, head.end + 1, bodyEnd, name);
  return to;
}

/** `struct alignas(64) X`, `enum class X`: the index of X. */
function typeNameAt(tokens: readonly CppToken[], keywordAt: number, end: number): number {
  let at = keywordAt + 1;
  while (at < end) {
    const text = tokens[at]?.text ?? '';
    if (text === '(' || text === '[') at = closing(tokens, at) + 1;
    else if (text === 'class' || text === 'struct' || notNames.has(text)) at++;
    else return at;
  }
  return at;
}

function scanAlias(scan: Scan, start: number, limit: number): number {
  const { tokens } = scan;
  const to = skipToSemicolon(tokens, start, limit);
  const isUsing = tokens[start]?.text === 'using';
  if (isUsing && tokens[start + 2]?.text !== '=') return to;
  const attribute = tokens.findIndex(
    (token, index) => index > start && index < to && token.text === '__attribute__',
  );
  const pointer = tokens.findIndex(
    (token, index) =>
      index > start && index < to - 1 && token.text === '(' && tokens[index + 1]?.text === '*',
  );
  const nameAt = isUsing ? start + 1 : pointer >= 0 ? pointer + 2 : (attribute >= 0 ? attribute : to - 1) - 1;
  scan.declarators.add(nameAt);
  const line = tokens[nameAt]?.line ?? 0;
  scan.definitions.push({
    kind: 'type',
    name: tokens[nameAt]?.text ?? '',
    line,
    from: start,
    to,
    needsReference: true,
  });
  return to;
}

function scanVariable(
  scan: Scan,
  start: number,
  head: Head,
  limit: number,
  className: string | undefined,
): number {
  const { tokens } = scan;
  const to = skipToSemicolon(tokens, head.end, limit);
  let nameAt = head.end - 1;
  if (tokens[nameAt]?.text === ']') while (nameAt > start && tokens[nameAt]?.text !== '[') nameAt--;
  if (tokens[nameAt]?.text === '[') nameAt--;
  const name = tokens[nameAt];
  if (name?.kind !== 'identifier' || nameAt === start) return to;
  scan.declarators.add(nameAt);
  const needsReference = className === undefined;
  scan.definitions.push({
    kind: 'variable',
    name: name.text,
    line: name.line,
    from: start,
    to,
    needsReference,
  });
  return to;
}

/** Index after the next `;` outside of any bracket. */
function skipToSemicolon(tokens: readonly CppToken[], start: number, limit: number): number {
  let at = start;
  while (at < limit) {
    const text = tokens[at]?.text ?? '';
    if (text === ';') return at + 1;
    at = closers[text] === undefined ? at + 1 : closing(tokens, at) + 1;
  }
  return limit;
}

/** Index of the bracket that closes the one at `open`; the last token where none does. */
function closing(tokens: readonly CppToken[], open: number): number {
  const opener = tokens[open]?.text ?? '';
  const closer = closers[opener];
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    const text = tokens[at]?.text;
    if (text === opener) depth++;
    else if (text === closer && --depth === 0) return at;
  }
  return tokens.length;
}

function closingAngle(tokens: readonly CppToken[], open: number, limit: number): number {
  let depth = 0;
  let at = open;
  while (at < limit) {
    const text = tokens[at]?.text ?? '';
    if (text === '<') depth++;
    else if (text === '>' && --depth === 0) return at;
    else if (text === ';' || text === '{') return open;
    at = text === '(' || text === '[' ? closing(tokens, at) + 1 : at + 1;
  }
  return open;
}
