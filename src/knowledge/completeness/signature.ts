import { symbolName } from '../check-contract.ts';

export interface Parameter {
  readonly name: string;
  /** `View`, `const Row*`, `std::span<const float>`. */
  readonly type: string;
  /** Its elements have a shape that somebody must state. */
  readonly isTensor: boolean;
  /** Its type doesn't say what its elements are. */
  readonly isUntyped: boolean;
}

export interface Signature {
  readonly name: string;
  readonly isFunction: boolean;
  /** Its body stands in the header: what it does can be read there. */
  readonly isInline: boolean;
  readonly parameters: readonly Parameter[];
  /** Type of the result, as written; empty of a type. */
  readonly returns: string;
}

/** A signature of the front matter, as far as its parts must be described. */
export function parseSignature(written: string): Signature {
  const text = written.trim();
  const isFunction = text.includes('(') && !/^(?:struct|class|enum|using)\b/.test(text);
  const name = symbolName(text);
  return {
    name,
    isFunction,
    returns: isFunction ? text.slice(0, text.indexOf(`${name}(`)).trim() : '',
    isInline: /^(?:inline|constexpr|static|__device__)\b/.test(text),
    parameters: isFunction ? splitParameters(text).map(parseParameter) : [],
  };
}

/** Between the outer parentheses, at commas outside all brackets. */
function splitParameters(text: string): string[] {
  const list = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
  const parts = [''];
  let depth = 0;
  for (const character of list) {
    if ('(<['.includes(character)) depth++;
    if (')>]'.includes(character)) depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function parseParameter(written: string): Parameter {
  const plain = written.replace(/\s*=.*$/, '');
  const name = /([A-Za-z_]\w*)$/.exec(plain)?.[1] ?? '';
  const type = plain.slice(0, plain.length - name.length).trim();
  const isRows = /\bRow\s*\*/.test(type);
  const isTensor = isRows || /^(?:const\s+)?(?:View|float\s*\*|double\s*\*|std::span<.*>)$/.test(type);
  return { name, type, isTensor, isUntyped: isTensor && !isRows && !type.startsWith('std::span') };
}

/**
 * Tensors that a function writes: views and pointers that aren't const, the first of them where views hide it. What the
 * contract says is read only isn't one of them: `scores is read only`.
 */
export function writtenParameters({ parameters }: Signature, aliasing = ''): Parameter[] {
  const isReadOnly = (name: string) => new RegExp(`(?<!\\w)${name} is read only`).test(aliasing);
  const tensors = parameters.filter(
    ({ name, isTensor, type }) => isTensor && !/\bconst\b/.test(type) && !isReadOnly(name),
  );
  const pointers = tensors.filter(({ type }) => type.includes('*'));
  const view = tensors.find(({ type }) => type === 'View');
  return view === undefined ? pointers : [view, ...pointers];
}
